"""Checks the fields of a release: constraints, policy, groups, and the store that references need."""

from collections.abc import Mapping

from msgspec import Struct

from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.groups import LARGEST, Group, check_slots, groups_of
from syncret.daemon.release.model import Field, Reference, Text
from syncret.daemon.release.parsed import Parsed
from syncret.daemon.release.platform import Policy
from syncret.providers.errors import OverBudget
from syncret.providers.work import Work


class Checked(Struct, frozen=True):
    """The groups by `$secretName`, and the verdict on the constraints of each field by its label."""

    groups: Mapping[str, Group]
    verdicts: Mapping[str, str]


def check(parsed: Parsed) -> Checked:
    """Make all checks that need the values."""
    findings, policy = parsed.findings, parsed.policy
    check_slots(parsed.fields, findings)
    verdicts = {field.label: _verdict(field, policy, findings) for field in parsed.fields}
    for field in parsed.fields:
        _check_literal(field, policy, findings)
    module = parsed.documents.module
    at = Place(module if module is not None else parsed.documents.values_at().given, "spec.secrets")
    groups = groups_of(parsed.fields, parsed.settings, at, findings)
    if policy.store is None and not policy.is_store_broken and any(g.external for g in groups.values()):
        place = parsed.documents.platform_at("secretStoreRef")
        first = next(group.secret_name for group in groups.values() if group.external)
        message = f"is missing: {first} is read from a secret manager"
        findings.error(place, message, "a Platform says which store: {name: ..., kind: ClusterSecretStore}")
    return Checked(groups, verdicts)


def _verdict(field: Field, policy: Policy, findings: Findings) -> str:
    if not field.routing.constraints.all:
        return "none"
    match field.fulfilment:
        case Text(value) if len(value) > LARGEST:
            return "unchecked"  # reported with its group, as too large for a Secret
        case Text(value, origin):
            place = field.user.at("value") if origin == "written" else field.user
            add = findings.warn if policy.constraints == "warn" else findings.error
            try:
                violated = field.routing.constraints.violated(value, Work())
            except OverBudget:
                add(place, "takes too long to be checked", "give a shorter one, or simplify its constraints")
                return "violated"
            if violated is None:
                return "satisfied"
            add(place, f"violates the constraint {violated}", "give a value that satisfies it")
            return "violated"
        case Reference(source="k8s-eso"):
            return "deferred"
        case _:
            return "unchecked"


def _check_literal(field: Field, policy: Policy, findings: Findings) -> None:
    text = field.fulfilment
    if not isinstance(text, Text) or policy.literals == "allow":
        return
    hint = "refer to a secret manager: {source: k8s-eso, path: ..., remoteKey: ...}"
    if policy.literals == "strict":
        message = "ends as a literal, which strict policy refuses: the manifest would hold it"
        findings.error(field.user, message, hint)
    elif text.origin == "written":
        findings.warn(field.user, "is a literal value", f"{hint}, or a tag such as @secret(...)")
