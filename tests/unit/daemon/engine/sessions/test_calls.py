import pytest

from syncret.daemon.engine.sessions.calls import THRESHOLD, CircuitBreaker
from syncret.providers.errors import Unavailable
from syncret.providers.kit.retry import Doubling


def silent(outage: CircuitBreaker, now: float, calls: int = THRESHOLD) -> None:
    for _ in range(calls):
        outage.failed(now, now)


def passes(outage: CircuitBreaker, now: float) -> bool:
    try:
        outage.check(now)
    except Unavailable:
        return False
    return True


@pytest.fixture
def outage() -> CircuitBreaker:
    return CircuitBreaker(Doubling(1, 60))


def test_a_few_failures_are_no_outage(outage: CircuitBreaker) -> None:
    silent(outage, 100, THRESHOLD - 1)
    assert passes(outage, 100)


def test_a_success_in_between_starts_the_count_anew(outage: CircuitBreaker) -> None:
    silent(outage, 100, THRESHOLD - 1)
    outage.succeeded()
    silent(outage, 100, THRESHOLD - 1)
    assert passes(outage, 100)


def test_in_an_outage_one_call_passes_after_each_pause(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    passed: list[int] = []
    for now in range(100, 300):
        if passes(outage, now):
            passed.append(now)
            outage.failed(now, now)
    assert passed == [101, 103, 107, 115, 131, 163, 223, 283]


def test_only_one_of_many_finds_out(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    assert [passes(outage, 101) for _ in range(10)] == [True] + [False] * 9


def test_what_was_under_way_already_lengthens_nothing(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    for _ in range(100):
        outage.failed(100.5, 99)
    assert passes(outage, 101)


def test_an_answer_ends_it(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    outage.succeeded()
    assert all(passes(outage, 100) for _ in range(10))
    silent(outage, 200)
    assert passes(outage, 201), "and the next one begins with a short pause"


def test_it_says_when_the_next_call_is(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    with pytest.raises(Unavailable, match=r"not answered 5 times in a row$"):
        outage.check(100)
    assert repr(outage) == "<Outage failures=5>"
