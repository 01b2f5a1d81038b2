"""GeneratorState: in force, given up, cleaned up; one row per case."""

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.generators import GeneratorState
from syncret.daemon.core.generator_states import FINALIZER
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.core.plan.generator_state import (
    AddFinalizer,
    CleanUp,
    Conclude,
    Delete,
    Sleep,
    Step,
    next_step,
    report,
)
from syncret.providers.errors import Unavailable

NOW = 1_767_225_600.0
MIDNIGHT = "2026-01-01T00:00:00Z"
MADE: Document = {"resource": {"kind": "Grafana"}, "state": {"id": 1}}
AWAY = Unavailable("away", hint="is it up?")
CREATED: Document = {
    "type": "Ready",
    "status": "True",
    "reason": "Created",
    "message": "GeneratorState created",
    "lastTransitionTime": MIDNIGHT,
}


def record(
    *, held: bool = True, deleted: bool = False, spec: Json = MADE, status: Document | None = None
) -> GeneratorState:
    metadata: Document = {"name": "g", "finalizers": [FINALIZER] if held else []}
    if deleted:
        metadata["deletionTimestamp"] = MIDNIGHT
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, GeneratorState)


def until(deadline: str) -> Document:
    return {**MADE, "garbageCollectionDeadline": deadline}


@pytest.mark.parametrize(
    ("state", "step"),
    [
        pytest.param(record(held=False), AddFinalizer(), id="new"),
        pytest.param(record(), Sleep(None), id="in force"),
        pytest.param(record(spec=until("2026-01-01T00:02:00Z")), Sleep(NOW + 120), id="given up: until then"),
        pytest.param(record(spec=until(MIDNIGHT)), Delete(), id="its deadline is over"),
        pytest.param(record(spec=until("soon")), Sleep(None), id="a deadline that is none"),
        pytest.param(record(deleted=True), CleanUp({"kind": "Grafana"}, {"id": 1}), id="deleted"),
        pytest.param(record(deleted=True, held=False), Conclude(), id="held by something else"),
        pytest.param(record(deleted=True, spec=None), Conclude(), id="it records nothing"),
    ],
)
def test_next_step(state: GeneratorState, step: Step) -> None:
    assert next_step(state, NOW) == step


@pytest.mark.parametrize("spec", [{"resource": [], "state": {}}, {"resource": {}, "state": "x"}])
def test_a_record_that_cannot_be_read_is_kept_with_an_error(spec: Document) -> None:
    step = next_step(record(deleted=True, spec=spec), NOW)
    assert isinstance(step, Conclude)
    assert str(step.error) == "spec.resource and spec.state must be objects"


def test_a_record_in_force_is_reported_once() -> None:
    first = report(record(), NOW, next_due=NOW + 120)
    assert first.status is not None
    assert list(first.status["conditions"]) == [CREATED]
    assert (first.next_due, first.failure, first.last_error) == (NOW + 120, None, None)
    assert report(record(status={"conditions": [CREATED]}), NOW + 60).status is None


def test_a_failed_clean_up_is_a_condition_an_event_and_the_last_error() -> None:
    found = report(record(status={"conditions": [CREATED]}), NOW, error=AWAY)
    message = "could not cleanup generator state: away"
    assert found.status is not None
    (condition,) = found.status["conditions"]
    assert (condition["status"], condition["reason"], condition["message"]) == ("False", "Error", message)
    assert [(event.reason, event.message, event.warning) for event in found.events] == [
        ("CleanupFailed", message, True)
    ]
    assert found.last_error == LastError(NOW, message, "is it up?")
    assert found.failure is AWAY
