"""When a delivery is due."""

import pytest

from syncret.daemon.core.delivery.timing import Debounce, StartLimit, due, restart_allowed_at, together


@pytest.mark.parametrize(
    ("first", "last", "not_before", "expected"),
    [
        pytest.param(100, 100, 0, 102, id="one change"),
        pytest.param(100, 101.5, 0, 103.5, id="a change within the quiet time"),
        pytest.param(100, 129.5, 0, 130, id="changes without an end"),
        pytest.param(100, 100, 110, 110, id="the last reload was a moment ago"),
    ],
)
def test_changes_wait_for_a_quiet_time(first: float, last: float, not_before: float, expected: float) -> None:
    assert due(Debounce(), first=first, last=last, not_before=not_before) == expected


def test_several_wait_for_the_most_patient_as_long_as_nobody_minds() -> None:
    assert together([Debounce(2, 30), Debounce(5, 60)]) == Debounce(5, 30)
    assert together([Debounce(60, 120), Debounce(2, 30)]) == Debounce(30, 30)


@pytest.mark.parametrize(
    ("limit", "restarts", "expected"),
    [
        pytest.param(StartLimit(10, 5), [], 100, id="none"),
        pytest.param(StartLimit(10, 5), [95, 96], 100, id="two of three"),
        pytest.param(StartLimit(10, 5), [95, 96, 97], 105, id="three: two are kept free"),
        pytest.param(StartLimit(10, 5), [1, 2, 3, 97], 100, id="long ago"),
        pytest.param(StartLimit(10, 1), [95], 105, id="one at least"),
        pytest.param(StartLimit(10, 1), [], 100, id="one at least, free"),
        pytest.param(StartLimit(0, 5), [99] * 9, 100, id="no limit"),
    ],
)
def test_a_unit_is_never_restarted_to_death(
    limit: StartLimit, restarts: list[float], expected: float
) -> None:
    assert restart_allowed_at(limit, restarts, 100) == expected


def test_twenty_rotations_in_ten_seconds_stay_within_the_limit() -> None:
    limit, done = StartLimit(10, 5), list[float]()
    for rotation in range(20):
        done.append(restart_allowed_at(limit, done, max([rotation / 2, *done])))
    for moment in done:
        assert sum(moment - limit.interval < each <= moment for each in done) <= limit.burst - 2
