"""A repeated message: when it is logged, with which count, and what ends the series."""

import pytest

from syncret.daemon.ops.logs import repeats
from syncret.daemon.ops.logs.repeats import FIRST, LONGEST, VARIANTS, Repeats, counted


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_once_then_at_a_doubling_distance_with_its_count(clock: Clock) -> None:
    """An object that fails every 10 seconds for an hour."""
    repeated = Repeats(clock)
    logged: list[tuple[float, int]] = []
    for number in range(361):
        clock.time = 1000.0 + 10 * number
        times = repeated.occurred("object", "it failed")
        if times:
            logged.append((clock.time - 1000.0, times))
    assert logged == [(0, 1), (60, 7), (180, 19), (420, 43), (900, 91), (1860, 187)]


def test_the_distance_has_an_end(clock: Clock) -> None:
    repeated = Repeats(clock)
    last, longest = clock.time, 0.0
    for _ in range(24 * 60):
        clock.time += 60
        if repeated.occurred("object", "it failed"):
            longest, last = max(longest, clock.time - last), clock.time
    assert longest == LONGEST


def test_what_is_over_is_new_when_it_begins_again(clock: Clock) -> None:
    repeated = Repeats(clock)
    assert repeated.over("object") == 0
    for _ in range(3):
        repeated.occurred("object", "it failed")
    assert repeated.over("object") == 3
    assert repeated.occurred("object", "it failed") == 1


def test_subjects_and_messages_count_by_themselves(clock: Clock) -> None:
    repeated = Repeats(clock)
    assert repeated.occurred("one", "it failed") == 1
    assert repeated.occurred("other", "it failed") == 1
    assert repeated.occurred("one", "it failed otherwise") == 1
    assert repeated.occurred("one", "it failed") == 0
    assert repeated.over("one") == 3


def test_numbers_make_no_other_message(clock: Clock) -> None:
    repeated = Repeats(clock)
    texts = [f"has not answered {count} times; the next call is in {60 - count} s" for count in range(5, 50)]
    assert [repeated.occurred("store", text) for text in texts] == [1] + [0] * 44


def test_messages_that_are_never_the_same_do_not_flood(clock: Clock) -> None:
    repeated = Repeats(clock)
    texts = [f"message {'x' * length}" for length in range(1000)]
    assert sum(repeated.occurred("store", text) > 0 for text in texts) == VARIANTS + 1


def test_memory_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST", 10)
    repeated = Repeats(clock)
    for number in range(12):
        repeated.occurred(number, "it failed")
    assert [repeated.over(number) for number in range(12)] == [0, 0, *[1] * 10]


def test_the_first_line_has_no_count() -> None:
    assert [counted(times) for times in (1, 2)] == [{}, {"times": 2}]


def test_the_distance_is_no_shorter_than_the_first(clock: Clock) -> None:
    repeated = Repeats(clock)
    repeated.occurred("loop", "error")
    clock.time += FIRST - 0.1
    assert repeated.occurred("loop", "error") == 0
    clock.time += 0.1
    assert repeated.occurred("loop", "error") == 3
