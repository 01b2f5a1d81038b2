"""What is expected after a step, against what `syncret simulate` reported."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from tests.suites.corpus.runners import objects, pushes
from tests.suites.corpus.runners.comparing import differences, knows, list_in, value_in
from tests.suites.corpus.runners.seen import Found, Seen


def mismatches(expected: Mapping[str, Json], seen: Seen, *, may_be_refused: bool = False) -> Found:
    """Everything expected that did not come. Raises Unknown for an expectation that nobody here knows.

    `may_be_refused`: the failure expected is how things go where no webhook refuses the resource before; its
    refusal is as good.
    """
    knows(expected, _CHECKS, "expect")
    refused = _is_refused(seen)
    must_be_refused = expected.get("rejected_at_admission") is True
    if must_be_refused and not refused:
        yield f"expected {seen.subject['kind']} to be rejected at admission; it was not"
    for one in seen.rejected:
        if not (_is_subject(one, seen) and (must_be_refused or may_be_refused)):
            problems = "; ".join(f"{problem['path']}: {problem['message']}" for problem in one["problems"])
            yield f"expected {one['object']['kind']} to be admitted; came {problems}"
    for name, value in expected.items():
        if not (refused and may_be_refused and name == "condition" and value["status"] == "False"):
            yield from _CHECKS[name](value, seen)


def _is_refused(seen: Seen) -> bool:
    return any(_is_subject(one, seen) for one in seen.rejected)


def _is_subject(refused: Document, seen: Seen) -> bool:
    name = refused["object"]
    return (name["kind"], name["name"]) == (seen.subject["kind"], seen.subject["metadata"]["name"])


_CONDITION: Final = frozenset({"type", "status", "reason", "message", "message_contains"})
_STORE: Final = frozenset({"name", "kind", "namespace"})


def _conditions(document: Document | None) -> Iterator[Document]:
    yield from list_in(document, "status", "conditions")


def _condition_of(expected: Mapping[str, Json], document: Document | None, path: str) -> Found:
    """Status and reason are equal, the message holds what is expected."""
    knows(expected, _CONDITION, path)
    kind = expected.get("type", "Ready")
    came = next((one for one in _conditions(document) if one["type"] == kind), None)
    if came is None:
        yield f"expected {path} {dict(expected)!r}; there is no condition {kind}"
        return
    for name in ("status", "reason"):
        if name in expected and came.get(name, "") != expected[name]:
            yield f"expected {path}.{name} = {expected[name]!r}; came {came!r}"
    for name in ("message", "message_contains"):
        if expected.get(name, "") not in came.get("message", ""):
            yield f"expected {path} with the message {expected[name]!r}; came {came!r}"


def _condition(expected: Json, seen: Seen) -> Found:
    yield from _condition_of(expected, seen.current, "condition")


def _no_condition(expected: Json, seen: Seen) -> Found:
    came = [one for one in _conditions(seen.current) if one["type"] == "Ready"]
    if (not came) is not expected:
        yield f"expected no_condition = {expected}; came {came!r}"


def _binding(expected: Json, seen: Seen) -> Found:
    came = value_in(seen.status, "binding", "name") or None
    if came != expected:
        yield f"expected binding = {expected!r}; came {came!r}"


def _store_condition(expected: Json, seen: Seen) -> Found:
    said = {name: value for name, value in expected.items() if name not in _STORE}
    yield from _condition_of(said, seen.store(expected), "store_condition")


def _store_capabilities(expected: Json, seen: Seen) -> Found:
    """The capability of the only store, or that of a store by its name."""
    said: Mapping[str, Json] = expected if is_object(expected) else {"value": expected}
    knows(said, {"capabilities", "value", *_STORE}, "store_capabilities")
    wanted = said["value"] if "value" in said else said["capabilities"]
    came = value_in(seen.store(said), "status", "capabilities")
    if came != wanted:
        yield f"expected store_capabilities {wanted!r}; came {came!r}"


def _status_has(expected: Json, seen: Seen) -> Found:
    for name in expected:
        if not seen.status.get(name):
            yield f"expected status.{name}; the status has {sorted(seen.status)}"


def _finalizers(expected: Json, seen: Seen) -> Found:
    came = list_in(seen.current, "metadata", "finalizers")
    yield from objects.same_set(expected, came, "finalizers")


def _absent_subject(expected: Json, seen: Seen) -> Found:
    if (seen.current is None) is not expected:
        yield f"expected {seen.subject['kind']} to be {'gone' if expected else 'there'}; it is not"


def _namespaces(expected: Json, seen: Seen) -> Found:
    yield from objects.same_set(
        expected, list_in(seen.status, "provisionedNamespaces"), "provisionedNamespaces"
    )


def _failed_namespaces(expected: Json, seen: Seen) -> Found:
    came = list_in(seen.status, "failedNamespaces")
    if sorted(expected, key=_by_namespace) != sorted(came, key=_by_namespace):
        yield f"expected failedNamespaces {expected!r}; came {came!r}"


def _by_namespace(failure: Mapping[str, Json]) -> str:
    namespace: str = failure["namespace"]
    return namespace


def _in_status(field: str) -> Callable[[Json, Seen], Found]:
    def check(expected: Json, seen: Seen) -> Found:
        yield from differences({field: expected}, seen.status, "status")

    return check


_CHECKS: Final[Mapping[str, Callable[[Json, Seen], Found]]] = {
    "condition": _condition,
    "no_condition": _no_condition,
    # The outcome where admission does not refuse the resource: it must, and that is looked at in any case.
    "otherwise_condition": lambda _, __: iter(()),
    "rejected_at_admission": lambda _, __: iter(()),
    "secret": objects.secret,
    "absent_secrets": objects.absent_secrets,
    "secret_unchanged": objects.secret_unchanged,
    "object": objects.output,
    "absent_objects": objects.absent_objects,
    "externalSecret": objects.external_secret,
    "binding": _binding,
    "store_condition": _store_condition,
    "store_capabilities": _store_capabilities,
    "pushed": pushes.pushed,
    "deleted": pushes.deleted,
    "provider_value": pushes.provider_value,
    "syncedPushSecrets": pushes.synced,
    "syncedPushSecrets_keys": pushes.synced_keys,
    "status_has": _status_has,
    "finalizers": _finalizers,
    "absent_pushsecret": _absent_subject,
    "absent_externalsecret": _absent_subject,
    "provisionedNamespaces": _namespaces,
    "failedNamespaces": _failed_namespaces,
    "externalSecretName": _in_status("externalSecretName"),
    "pushSecretName": _in_status("pushSecretName"),
}
