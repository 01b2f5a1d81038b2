"""Conditions and times."""

import pytest

from syncret.config.resources.base import ConditionStatus
from syncret.daemon.core.conditions import find, put, ready, seconds, stamp

THEN, NOW = 1_767_225_600.0, 1_767_229_200.0
OLD = put((), ready(ConditionStatus, status=True, reason="A", message="m"), now=THEN)


@pytest.mark.parametrize(
    ("new", "since"),
    [
        pytest.param(ready(ConditionStatus, status=True, reason="A", message="m"), THEN, id="equal"),
        pytest.param(ready(ConditionStatus, status=True, reason="B", message="n"), THEN, id="another reason"),
        pytest.param(ready(ConditionStatus, status=False, reason="A", message="m"), NOW, id="flipped"),
    ],
)
def test_the_time_moves_only_when_the_status_flips(new: ConditionStatus, since: float) -> None:
    (condition,) = put(OLD, new, now=NOW)
    assert condition.last_transition_time == stamp(since)
    assert (condition.status, condition.reason, condition.message) == (new.status, new.reason, new.message)


def test_conditions_of_other_types_stay_behind_ready() -> None:
    """Some readers look at the first condition only."""
    other = ConditionStatus(type="Other", status="True")
    assert [each.type for each in put((*OLD, other), ready(ConditionStatus, status=False), now=NOW)] == [
        "Ready",
        "Other",
    ]
    assert [each.type for each in put(OLD, other, now=NOW)] == ["Ready", "Other"]
    assert find((other,)) is None
    assert find((other,), "Other") == other


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("2026-01-01T00:00:00Z", THEN, id="as we write it"),
        pytest.param("2026-01-01T01:00:00+01:00", THEN, id="with an offset"),
        pytest.param("2026-01-01T00:00:00", THEN, id="without a zone it is UTC"),
        pytest.param("", None, id="empty"),
        pytest.param("soon", None, id="none at all"),
    ],
)
def test_times_are_read(text: str, value: float | None) -> None:
    assert seconds(text) == value


def test_fractions_are_cut_off() -> None:
    assert stamp(THEN + 0.999) == "2026-01-01T00:00:00Z"
