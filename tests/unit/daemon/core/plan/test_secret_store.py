"""Stores: who may use one, when it is held for what was pushed, when it is probed, and what is reported."""

import msgspec
import pytest

from syncret.config.fields import Json, LabelSelector
from syncret.config.meta import Document
from syncret.config.resources.push_secret import PushSecret
from syncret.config.resources.secret_store import SecretStore, StoreCondition
from syncret.daemon.core.plan.actions import Options
from syncret.daemon.core.plan.secret_store import (
    Probe,
    Probed,
    Step,
    admits,
    is_needed_by,
    next_step,
    probed_now,
    report,
)
from syncret.providers.errors import Denied, Malformed, SyncError

NOW = 1_767_225_600.0
MIDNIGHT = "2026-01-01T00:00:00Z"
VALID: Document = {
    "type": "Ready",
    "status": "True",
    "reason": "Valid",
    "message": "store validated",
    "lastTransitionTime": MIDNIGHT,
}
BROKEN: Document = {**VALID, "status": "False", "reason": "InvalidProviderConfig", "message": "no"}
DENIED = Denied("not with this token")


def store(
    kind: str = "SecretStore", *, deleted: bool = False, condition: Document | None = None, **spec: Json
) -> SecretStore:
    metadata: Document = {"name": "s", "uid": "u", "generation": 2, "labels": {"push": "yes"}}
    if deleted:
        metadata["deletionTimestamp"] = MIDNIGHT
    status: Document = {"conditions": [condition], "capabilities": "ReadWrite"} if condition else {}
    whole: Document = {"kind": kind, "metadata": metadata, "spec": {"provider": {}, **spec}, "status": status}
    return msgspec.convert(whole, SecretStore)


LATER = Probed("u", 2, NOW + 60)


@pytest.mark.parametrize(
    ("resource", "probed", "needed", "step"),
    [
        pytest.param(store(), None, False, Step(is_held=False, is_probed=True), id="new"),
        pytest.param(store(), None, True, Step(is_held=True, is_probed=True), id="new, and needed"),
        pytest.param(store(), LATER, False, Step(is_held=False, probed=LATER), id="not due"),
        pytest.param(
            store(), Probed("u", 2, NOW), False, Step(is_held=False, is_probed=True), id="due by its interval"
        ),
        pytest.param(
            store(), Probed("u", 1, NOW + 60), False, Step(is_held=False, is_probed=True), id="another spec"
        ),
        pytest.param(
            store(), Probed("v", 2, NOW + 60), False, Step(is_held=False, is_probed=True), id="another uid"
        ),
        pytest.param(
            store(condition=VALID),
            None,
            False,
            Step(is_held=False, probed=Probed("u", 2, NOW + 300)),
            id="ready before a restart: believed",
        ),
        pytest.param(
            store(condition=BROKEN),
            None,
            False,
            Step(is_held=False, is_probed=True),
            id="not ready before a restart",
        ),
        pytest.param(store(deleted=True), LATER, True, Step(), id="being deleted, and still needed"),
        pytest.param(store(deleted=True), LATER, False, Step(is_held=False), id="being deleted: it may go"),
        pytest.param(store(controller="other"), None, True, Step(), id="another controller's"),
    ],
)
def test_next_step(resource: SecretStore, probed: Probed | None, needed: bool, step: Step) -> None:  # noqa: FBT001  # a column of a table
    assert next_step(resource, probed, NOW, Options(), is_needed=needed) == step


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [
        pytest.param("10m", 600, id="a duration"),
        pytest.param(900, 900, id="seconds"),
        pytest.param(0, 300, id="0: the daemon's"),
        pytest.param("soon", 300, id="malformed: the daemon's"),
    ],
)
def test_when_it_is_probed_again(interval: Json, seconds: float) -> None:
    assert probed_now(store(refreshInterval=interval), NOW, Options()).due == NOW + seconds


def push(**spec: Json) -> PushSecret:
    """A PushSecret to another store that deletes what it pushed; `pushed` names where something stands."""
    pushed = spec.pop("pushed", "")
    data = {"match": {"remoteRef": {"remoteKey": "r"}}}
    whole: Document = {
        "metadata": {"name": "p"},
        "spec": {
            "secretStoreRefs": [{"name": "t"}],
            "selector": {},
            "deletionPolicy": "Delete",
            **spec,
        },
        "status": {"syncedPushSecrets": {pushed: {"r": data}}} if pushed else {},
    }
    return msgspec.convert(whole, PushSecret)


def by_label(key: str, value: str) -> list[Document]:
    return [{"labelSelector": {"matchLabels": {key: value}}}]


@pytest.mark.parametrize(
    ("wanted", "needed"),
    [
        pytest.param(push(), False, id="another store"),
        pytest.param(push(secretStoreRefs=[{"name": "s"}]), True, id="named"),
        pytest.param(
            push(secretStoreRefs=[{"name": "s"}], deletionPolicy="None"), False, id="it deletes nothing"
        ),
        pytest.param(
            push(secretStoreRefs=[{"name": "s", "kind": "ClusterSecretStore"}]), False, id="another kind"
        ),
        pytest.param(push(secretStoreRefs=by_label("push", "yes")), True, id="selected"),
        pytest.param(push(secretStoreRefs=by_label("push", "no")), False, id="not selected"),
        pytest.param(push(secretStoreRefs=by_label("not a key", "x")), False, id="a selector that is none"),
        pytest.param(push(pushed="SecretStore/s"), True, id="something stands there"),
        pytest.param(push(pushed="ClusterSecretStore/s"), False, id="something stands elsewhere"),
    ],
)
def test_who_needs_it(wanted: PushSecret, needed: bool) -> None:  # noqa: FBT001  # as above
    assert is_needed_by(wanted, store()) is needed


@pytest.mark.parametrize(
    ("probe", "condition", "capabilities", "error"),
    [
        pytest.param(
            Probe("ready", "ReadOnly"), ("True", "Valid", "store validated"), "ReadOnly", None, id="ready"
        ),
        pytest.param(
            Probe("unknown", ""),
            ("True", "ValidationUnknown", "could not determine validation status"),
            "ReadWrite",
            None,
            id="unknown: what it could do stays",
        ),
        pytest.param(
            Probe(failed="unable to validate store", error=DENIED),
            ("False", "InvalidProviderConfig", "unable to validate store: not with this token"),
            "ReadWrite",
            DENIED,
            id="failed",
        ),
    ],
)
def test_the_report(
    probe: Probe, condition: tuple[str, str, str], capabilities: str, error: SyncError | None
) -> None:
    found = report(store(condition={**VALID, "reason": "Before"}), probe, NOW, next_due=NOW + 300)
    assert found.status is not None
    (ready,) = found.status["conditions"]
    assert (ready["status"], ready["reason"], ready["message"]) == condition
    assert found.status["capabilities"] == capabilities
    assert found.failure is error
    assert (found.last_error is not None) is (error is not None)
    (event,) = found.events
    assert (event.reason, event.message) == condition[1:]
    assert event.warning is (condition[1] != "Valid")


@pytest.mark.parametrize(
    ("annotations", "before", "reasons"),
    [
        pytest.param({}, "Before", ["StoreUnmaintained", "Valid"], id="new"),
        pytest.param({}, "Valid", [], id="told before"),
        pytest.param({"external-secrets.io/ignore-maintenance-checks": ""}, "Before", ["Valid"], id="known"),
    ],
)
def test_that_nobody_maintains_a_provider_is_told_once(
    annotations: dict[str, str], before: str, reasons: list[str]
) -> None:
    wanted = store(condition={**VALID, "reason": before})
    annotated = msgspec.structs.replace(
        wanted, metadata=msgspec.structs.replace(wanted.metadata, annotations=annotations)
    )
    found = report(annotated, Probe("ready", "ReadWrite", is_maintained=False), NOW)
    assert [each.reason for each in found.events] == reasons
    assert [each.reason for each in found.events if each.warning] == [
        each for each in reasons if each != "Valid"
    ]


def test_an_equal_status_is_not_written() -> None:
    published = report(store(condition=VALID), Probe("ready", "ReadWrite"), NOW + 60)
    assert published.status is None
    assert published.events == ()


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        pytest.param((), True, id="no condition"),
        pytest.param((StoreCondition(),), False, id="an empty condition admits nobody"),
        pytest.param((StoreCondition(namespaces=("other", "shop")),), True, id="by name"),
        pytest.param((StoreCondition(namespaces=("other",)),), False, id="other name"),
        pytest.param(
            (StoreCondition(namespace_selector=LabelSelector(match_labels={"env": "prod"})),),
            True,
            id="labels",
        ),
        pytest.param(
            (StoreCondition(namespace_selector=LabelSelector(match_labels={"env": "x"})),), False, id="others"
        ),
        pytest.param((StoreCondition(namespace_selector=LabelSelector()),), True, id="empty selector"),
        pytest.param(
            (StoreCondition(namespace_regexes=("nope", "sh")),),
            True,
            id="an expression, anywhere in the name",
        ),
        pytest.param((StoreCondition(namespace_regexes=("^hop",)),), False, id="anchored expression"),
        pytest.param(
            (StoreCondition(namespaces=("other",)), StoreCondition(namespaces=("shop",))),
            True,
            id="any condition",
        ),
    ],
)
def test_admits(conditions: tuple[StoreCondition, ...], *, expected: bool) -> None:
    assert admits(conditions, "shop", {"env": "prod", "team": "a"}) is expected


def test_a_broken_expression_is_told() -> None:
    with pytest.raises(Malformed, match="failed to compile"):
        admits([StoreCondition(namespace_regexes=("(",))], "shop", {})
