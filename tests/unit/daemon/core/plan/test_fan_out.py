"""ClusterExternalSecret and ClusterPushSecret: what is next, what becomes of a child, what is reported."""

from collections.abc import Mapping

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.core.plan.fan_out import (
    EXTERNAL,
    PUSH,
    AddFinalizer,
    Child,
    CleanUp,
    Conclude,
    FanOutKind,
    Provision,
    Step,
    children,
    decide,
    desired_child,
    next_step,
    report,
    status_after,
    status_on_selector_error,
)
from syncret.providers.errors import Malformed, Unavailable

NOW = 1_767_225_600.0
"""2026-01-01, at midnight."""

HOLD = "externalsecrets.external-secrets.io/ces-c"
BLUE: Document = {"matchLabels": {"team": "blue"}}
NO_KEY: Document = {"matchLabels": {"not a key": "x"}}
NAMESPACES = {
    "one": {"kubernetes.io/metadata.name": "one", "team": "blue"},
    "red": {"kubernetes.io/metadata.name": "red"},
    "two": {"kubernetes.io/metadata.name": "two", "team": "blue"},
}


def parent(
    fan: FanOutKind = EXTERNAL,
    *,
    metadata: Document | None = None,
    status: Document | None = None,
    **spec: Json,
) -> Document:
    held = {"finalizers": [fan.finalizer]} if fan.finalizer else {}
    return {
        "apiVersion": fan.parent.api_version,
        "kind": fan.kind,
        "metadata": {"name": "c", "uid": "u", **held, **(metadata or {})},
        "spec": {fan.spec_field: {"refreshInterval": "1h"}, "namespaceSelectors": [BLUE], **spec},
        **({"status": status} if status else {}),
    }


def provisioned(*namespaces: str, name: str = "c", failed: tuple[str, ...] = ()) -> Document:
    reasons = [{"namespace": each, "reason": "refused"} for each in failed]
    return {
        "externalSecretName": name,
        "provisionedNamespaces": list(namespaces),
        "failedNamespaces": reasons,
    }


# -------------------------------------------------------------------------------------------------- next step
GOING: Document = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("fan", "resource", "step"),
    [
        pytest.param(EXTERNAL, parent(metadata={"finalizers": []}), AddFinalizer(), id="not held yet"),
        pytest.param(EXTERNAL, parent(), Provision(("one", "two")), id="by a selector"),
        pytest.param(
            EXTERNAL,
            parent(namespaceSelectors=[], namespaceSelector=BLUE),
            Provision(("one", "two")),
            id="by the single selector",
        ),
        pytest.param(
            EXTERNAL, parent(namespaces=["red", "none"]), Provision(("one", "red", "two")), id="and by name"
        ),
        pytest.param(EXTERNAL, parent(namespaceSelectors=[]), Provision(()), id="none"),
        pytest.param(PUSH, parent(PUSH), Provision(("one", "two")), id="PushSecrets, without a finalizer"),
        pytest.param(
            EXTERNAL,
            parent(metadata=GOING, status=provisioned("one", name="d", failed=("two",))),
            CleanUp((Child("one", "d", False, True), Child("two", "d", False, True))),  # noqa: FBT003
            id="deleted: wherever there may be a child",
        ),
        pytest.param(
            PUSH, parent(PUSH, metadata=GOING), CleanUp(), id="deleted: PushSecrets go with their owner"
        ),
    ],
)
def test_next_step(fan: FanOutKind, resource: Document, step: Step) -> None:
    assert next_step(fan, resource, NAMESPACES) == step


def test_a_selector_that_makes_no_sense_is_found_without_a_namespace() -> None:
    step = next_step(EXTERNAL, parent(namespaceSelectors=[NO_KEY]), {})
    assert isinstance(step, Conclude)


@pytest.mark.parametrize(
    ("status", "spec", "found"),
    [
        pytest.param({}, {}, ["+one/c"], id="new"),
        pytest.param(provisioned("one", "two"), {}, ["-two/c, release", "+one/c"], id="not chosen any more"),
        pytest.param(provisioned("one", failed=("two",)), {}, ["-two/c, release", "+one/c"], id="nor failed"),
        pytest.param(
            provisioned("one", "two"),
            {"externalSecretName": "d"},
            ["-one/c", "-two/c", "-two/d, release", "+one/d"],
            id="another name",
        ),
    ],
)
def test_the_children_that_there_are_or_should_be(status: Document, spec: Document, found: list[str]) -> None:
    each = children(EXTERNAL, parent(status=status, **spec), ["one"])
    shown = [
        f"{'+' if one.is_wanted else '-'}{one.namespace}/{one.name}{', release' if one.releases else ''}"
        for one in each
    ]
    assert shown == found


# ------------------------------------------------------------------------------------------------- each child
WANTED = Child("one", "c", is_wanted=True)
UNWANTED = Child("one", "c", is_wanted=False, releases=True)
FORMER = Child("one", "c", is_wanted=False)
OURS = desired_child(EXTERNAL, parent(), "one", {"metadata": {"uid": "v", "resourceVersion": "7"}})
CHANGED = {**OURS, "spec": {"refreshInterval": "5m"}}
THEIRS: Document = {"metadata": {"name": "c", "namespace": "one", "uid": "w"}, "spec": {}}


def namespace(*finalizers: str) -> Document:
    return {"metadata": {"name": "one", "finalizers": list(finalizers)}}


@pytest.mark.parametrize(
    ("child", "observed", "where", "written"),
    [
        pytest.param(
            WANTED, None, namespace("x"), ["Namespace: x ces-c", "create c"], id="held, then created"
        ),
        pytest.param(WANTED, None, None, ["create c"], id="in a namespace that may not be marked"),
        pytest.param(WANTED, OURS, namespace(HOLD), [], id="as it should be"),
        pytest.param(WANTED, OURS, namespace(), ["Namespace: ces-c"], id="not held yet"),
        pytest.param(WANTED, CHANGED, namespace(HOLD), ["update c"], id="changed"),
        pytest.param(WANTED, THEIRS, namespace(), [], id="somebody else's"),
        pytest.param(
            UNWANTED, OURS, namespace("x", HOLD), ["delete c", "Namespace: x"], id="deleted, then released"
        ),
        pytest.param(UNWANTED, None, namespace(HOLD), ["Namespace: "], id="gone, not released yet"),
        pytest.param(UNWANTED, THEIRS, namespace(HOLD), ["Namespace: "], id="somebody else's: it stays"),
        pytest.param(UNWANTED, None, None, [], id="gone with its namespace"),
        pytest.param(FORMER, OURS, namespace(HOLD), ["delete c"], id="a former name: another one stays"),
        pytest.param(
            WANTED,
            OURS,
            {"metadata": {**namespace(HOLD)["metadata"], **GOING}},
            ["delete c", "Namespace: "],
            id="wanted in a namespace that is being deleted",
        ),
    ],
)
def test_what_becomes_of_a_child(
    child: Child, observed: Document | None, where: Document | None, written: list[str]
) -> None:
    plan = decide(EXTERNAL, parent(), child, observed, where)
    shown: list[str] = []
    for action in plan.actions:
        finalizers = (action.document or {}).get("metadata", {}).get("finalizers", [])
        if action.ref.kind == "Namespace":
            shown.append(f"Namespace: {' '.join(each.rpartition('/')[2] for each in finalizers)}")
        else:
            shown.append(f"{action.verb} {action.ref.name}")
    assert shown == written
    taken = child is WANTED and observed is THEIRS
    assert plan.reason == ("external secret already exists in namespace" if taken else "")


def test_a_push_secret_holds_no_namespace() -> None:
    plan = decide(PUSH, parent(PUSH), WANTED, None, None)
    assert [action.verb for action in plan.actions] == ["create"]


# ----------------------------------------------------------------------------------------------------- report
READY = [{"type": "Ready", "status": "True"}]
FAILED = [{"type": "Ready", "status": "False", "message": "one or more namespaces failed"}]
AWAY = Unavailable("away")


@pytest.mark.parametrize(
    ("names", "failed", "status"),
    [
        pytest.param([], {}, {"conditions": READY}, id="none"),
        pytest.param(
            ["two", "one"], {}, {"provisionedNamespaces": ["one", "two"], "conditions": READY}, id="all"
        ),
        pytest.param(
            ["one"],
            {"two": "b", "red": "a"},
            {
                "provisionedNamespaces": ["one"],
                "failedNamespaces": [
                    {"namespace": "red", "reason": "a"},
                    {"namespace": "two", "reason": "b"},
                ],
                "conditions": FAILED,
            },
            id="some failed",
        ),
    ],
)
def test_the_status(names: list[str], failed: Mapping[str, str], status: Document) -> None:
    found = status_after(EXTERNAL, parent(), names, failed)
    assert found == {"externalSecretName": "c", **status}


def test_a_former_name_of_which_a_child_is_left_stays_in_the_status() -> None:
    found = status_after(EXTERNAL, parent(externalSecretName="d"), [], {"one": "away"}, left="c")
    assert found["externalSecretName"] == "c"


def test_a_selector_error_of_a_push_secret_keeps_its_time() -> None:
    error = Malformed("no selector")
    first = status_on_selector_error(PUSH, parent(PUSH), error, NOW)
    (condition,) = first["conditions"]
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "False",
        "Errored",
        "failed to get target Namespaces",
    )
    assert condition["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    assert status_on_selector_error(PUSH, parent(PUSH, status=first), error, NOW + 60) == first


@pytest.mark.parametrize(
    ("failed", "failure", "last_error"),
    [
        pytest.param({}, None, "", id="none: cleared"),
        pytest.param({"two": "b", "one": "a"}, None, "one: a; two: b", id="names that are taken: no retry"),
        pytest.param({"one": "away"}, AWAY, "one: away", id="an error: tried again"),
    ],
)
def test_every_report_sets_or_clears_the_last_error(
    failed: Mapping[str, str], failure: Exception | None, last_error: str
) -> None:
    found = report(parent(refreshTime="10m"), None, failed, failure, NOW)
    assert (found.last_error.message if found.last_error else "") == last_error
    assert found.failure is failure
    assert [(event.reason, event.message) for event in found.events] == (
        [("NamespacesFailed", last_error)] if failed else []
    )
    assert found.next_due == NOW + 600


def test_an_equal_status_is_not_written() -> None:
    status = status_after(EXTERNAL, parent(), ["one"], {})
    assert report(parent(status=status), status, {}, None, NOW).status is None
    assert report(parent(), status, {}, None, NOW).status == status


@pytest.mark.parametrize("bad", ["soon", "1d", ""])
def test_a_malformed_interval_is_none(bad: str) -> None:
    assert report(parent(refreshTime=bad), None, {}, None, NOW).next_due is None
