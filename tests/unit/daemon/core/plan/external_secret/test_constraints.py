"""ExternalSecret: constraints on what was fetched decide on the write, and have a condition."""

import json
from collections.abc import Mapping

import pytest

from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.needs import Answer, Need, needs
from syncret.daemon.core.plan.actions import Event, Options, Report
from syncret.daemon.core.plan.external_secret.decide import Plan, decide, report
from syncret.daemon.core.plan.external_secret.next_step import Observed
from syncret.daemon.core.rendering import Rendering
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work
from tests.unit.daemon.core.plan.external_secret.resources import NOW, observed, plain, resource

LIVE = plain({"a": "b2xk"})
VIOLATED = {
    "type": "ConstraintsSatisfied",
    "status": "False",
    "reason": "Violated",
    "message": "violated: a: minRunes",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
SATISFIED = VIOLATED | {"status": "True", "reason": "Satisfied", "message": "all constraints hold"}


def constrained(policy: str = "block", **more: object) -> ExternalSecret:
    said = json.dumps({"keys": {"a": [{"minRunes": 3}]}, "policy": policy})
    return resource(metadata={"annotations": {"syncret.dev/constraints": said}}, **more)  # type: ignore[arg-type]  # any JSON


def never(name: str, text: str, data: object) -> bytes:
    raise AssertionError(f"the template {name} was rendered")


def planned(wanted: ExternalSecret, known: Observed, answer: Answer) -> Plan:
    fetched: dict[Need, Answer] = dict.fromkeys(needs(wanted.spec), answer)
    render = None if wanted.spec.target.template is None else Rendering(never, {}, "default", Work())
    return decide(wanted, known, fetched, Work(), render=render, transform=lambda text: text.format)


def conditions(found: Report) -> Mapping[str, Mapping[str, str]]:
    assert found.status is not None
    return {each["type"]: each for each in found.status["conditions"]}


def reported(wanted: ExternalSecret, plan: Plan) -> Report:
    return report(wanted, plan, None, None, NOW, Options(spread=False))


def test_a_violation_keeps_what_is_live_and_is_looked_at_again() -> None:
    wanted = constrained(target={"template": {"data": {"a": "{{ .a }}"}}})
    plan = planned(wanted, observed(LIVE), SecretBytes(b"v"))
    found = reported(wanted, plan)
    assert plan.actions == ()
    assert conditions(found)["ConstraintsSatisfied"] == VIOLATED
    ready = conditions(found)["Ready"]
    assert (ready["status"], ready["reason"]) == ("False", "SecretSyncedError")
    assert ready["message"] == "fetched values do not satisfy their constraints: violated: a: minRunes"
    assert isinstance(found.failure, Malformed)
    assert found.next_due == NOW + 3600


def test_a_warning_writes_and_tells_once() -> None:
    wanted = constrained("warn")
    plan = planned(wanted, observed(LIVE), SecretBytes(b"v"))
    found = reported(wanted, plan)
    assert [str(action.verb) for action in plan.actions] == ["update"]
    assert conditions(found)["ConstraintsSatisfied"] == VIOLATED
    assert conditions(found)["Ready"]["status"] == "True"
    assert found.events == (Event("ConstraintsViolated", "violated: a: minRunes", warning=True),)
    again = constrained("warn", status={"conditions": [VIOLATED]})
    assert reported(again, plan).events == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([], "Unknown", id="nothing was fetched yet"),
        pytest.param([SATISFIED], "True", id="satisfied before"),
        pytest.param([VIOLATED], "False", id="violated before"),
    ],
)
def test_the_last_verdict_stands_through_an_outage(before: list[object], after: str) -> None:
    wanted = constrained(status={"conditions": before})
    found = reported(wanted, planned(wanted, observed(LIVE), Unavailable("no answer")))
    assert conditions(found)["ConstraintsSatisfied"]["status"] == after
    assert conditions(found)["Ready"]["status"] == "False"


def test_values_that_hold_are_written() -> None:
    wanted = constrained(status={"conditions": [VIOLATED]})
    plan = planned(wanted, observed(LIVE), SecretBytes(b"long"))
    assert [str(action.verb) for action in plan.actions] == ["update"]
    assert conditions(reported(wanted, plan))["ConstraintsSatisfied"] == SATISFIED


def test_the_condition_goes_with_the_annotation() -> None:
    wanted = resource(status={"conditions": [VIOLATED]})
    plan = planned(wanted, observed(LIVE), SecretBytes(b"v"))
    assert list(conditions(reported(wanted, plan))) == ["Ready"]
