"""The result of a run as the status of ExternalSecretsConfig and ExternalSecretsManager. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from syncret.config.meta import Document, member
from syncret.daemon.core.conditions import stamp

MIRRORED: Final = "externalsecretsconfigs.operator.openshift.io/v1alpha1"
ANNOTATED: Final = "UpdateAnnotation"
"""The condition of the annotation by which cert-manager writes to CRDs."""

_LONGEST: Final = 32768
"""Characters of a message."""

State: TypeAlias = Literal["ready", "progressing", "failed"]


class Report(Struct, frozen=True, kw_only=True):
    """The result of a run."""

    state: State
    message: str = ""
    """What the run waits for, or why it failed."""
    ignored: Sequence[str] = ()
    """What is written and has no effect."""
    injects: bool = False
    """Whether cert-manager is to write its authority to CRDs."""
    not_annotated: str | None = None
    """Why it cannot; empty: it can; None: this run did not try."""
    image: str = ""
    bitwarden_image: str = ""


def waiting(deployments: Iterable[tuple[str, Document | None]]) -> str:
    """Which Deployments are not rolled out, and how far they are; empty if all are."""
    return "; ".join(each for each in (_behind(name, live) for name, live in deployments) if each)


def _behind(name: str, live: Document | None) -> str:
    if live is None:
        return f"waits for Deployment {name}: it is not there yet"
    wanted = member(live, "spec").get("replicas", 1)
    status = member(live, "status")
    if status.get("observedGeneration", 0) < live["metadata"].get("generation", 0):
        return f"waits for Deployment {name}: its newest version has not been seen yet"
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if updated < wanted:
        return f"waits for Deployment {name}: {updated} of {wanted} updated"
    if available < max(1, wanted):
        return f"waits for Deployment {name}: {available} of {max(1, wanted)} available"
    return ""


def status_of(config: Document, report: Report, now: float) -> Document:
    """The whole status of an ExternalSecretsConfig after a run."""
    failed, ready = report.state == "failed", report.state == "ready"
    reason = {"ready": "Ready", "progressing": "Progressing", "failed": "Failed"}[report.state]
    ignored = "; ".join(report.ignored)
    wanted = [
        ("Degraded", failed, "Failed" if failed else "Ready", report.message if failed else ""),
        ("Ready", ready, reason, report.message),
        ("Accepted", not ignored, "PartlyIgnored" if ignored else "Accepted", ignored),
    ]
    before = {each["type"]: each for each in member(config, "status").get("conditions", ())}
    generation = config["metadata"].get("generation", 0)
    conditions = [
        _condition(before.get(type_), type_, "True" if holds else "False", why, message, generation, now)
        for type_, holds, why, message in wanted
    ]
    annotated = before.get(ANNOTATED)
    if report.injects and report.not_annotated is not None:
        why, message = ("Failed", report.not_annotated) if report.not_annotated else ("Completed", "")
        holds = "False" if message else "True"
        annotated = _condition(annotated, ANNOTATED, holds, why, message, generation, now)
    if report.injects and annotated is not None:
        conditions.append(annotated)
    images = {"externalSecretsImage": report.image, "bitwardenSDKServerImage": report.bitwarden_image}
    return {"conditions": conditions, **{name: image for name, image in images.items() if image}}


def _condition(
    before: Document | None, type_: str, status: str, reason: str, message: str, generation: int, now: float
) -> Document:
    stays = before is not None and before.get("status") == status
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message[:_LONGEST],
        "lastTransitionTime": before["lastTransitionTime"] if before and stays else stamp(now),
        "observedGeneration": generation,
    }


def mirrored(manager: Document, config: Document | None, left: int, now: float) -> Document:
    """The whole status of the ExternalSecretsManager; `left` objects are there without a configuration."""
    if config is None:
        message = f"not managed: there is no ExternalSecretsConfig, and {left} objects are left"
        conditions: list[Document] = [{"type": "Ready", "status": "False", "message": message}]
        generation = 0
    else:
        conditions = [
            {"type": each["type"], "status": each["status"], "message": each.get("message", "")}
            for each in member(config, "status").get("conditions", ())
        ]
        generation = config["metadata"].get("generation", 0)
    entry = {"name": MIRRORED, "conditions": conditions, "observedGeneration": generation}
    former = member(manager, "status")
    statuses = former.get("controllerStatuses", ())
    before: list[Document] = []
    for each in statuses:
        if each["name"] == MIRRORED:
            before = each.get("conditions", before)
    stays = _statuses(before) == _statuses(conditions) and former.get("lastTransitionTime")
    return {
        "controllerStatuses": [entry],
        "lastTransitionTime": former["lastTransitionTime"] if stays else stamp(now),
    }


def _statuses(conditions: Iterable[Document]) -> dict[str, str]:
    return {each["type"]: each.get("status", "") for each in conditions}
