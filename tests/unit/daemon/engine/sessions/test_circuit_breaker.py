import pytest

from syncret.daemon.engine.sessions.circuit_breaker import DOUBT_AFTER, THRESHOLD, CircuitBreaker
from syncret.providers.errors import Unavailable
from syncret.providers.kit.retry import Doubling

GONE = Unavailable(
    "reading a: vault:8200 refuses connections", problem="vault:8200 refuses connections", hint="is it up?"
)


def silent(outage: CircuitBreaker, now: float, calls: int = THRESHOLD) -> None:
    for _ in range(calls):
        outage.failed(GONE, now, now)


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
            outage.failed(GONE, now, now)
    assert passed == [101, 103, 107, 115, 131, 163, 223, 283]


def test_only_one_of_many_finds_out(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    assert [passes(outage, 101) for _ in range(10)] == [True] + [False] * 9


def test_what_was_under_way_already_lengthens_nothing(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    for _ in range(100):
        outage.failed(GONE, 100.5, 99)
    assert passes(outage, 101)


def test_an_answer_ends_it(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    outage.succeeded()
    assert all(passes(outage, 100) for _ in range(10))
    silent(outage, 200)
    assert passes(outage, 201), "and the next one begins with a short pause"


def test_it_says_what_is_wrong_with_the_server_in_the_words_of_the_last_call(outage: CircuitBreaker) -> None:
    silent(outage, 100)
    with pytest.raises(Unavailable, match=r"^vault:8200 refuses connections$") as caught:
        outage.check(100)
    assert caught.value.hint == "is it up?"
    assert repr(outage) == "<Outage failures=5>"


def test_what_was_asked_of_it_is_for_whom_asked_alone(outage: CircuitBreaker) -> None:
    """Many share a store; what is wrong with its server concerns them all, a key does not."""
    for _ in range(THRESHOLD):
        outage.failed(Unavailable("reading payroll: it is away"), 100, 100)
    with pytest.raises(Unavailable, match=r"^the secret manager has not answered 5 times in a row$"):
        outage.check(100)


def test_whether_it_answers(outage: CircuitBreaker) -> None:
    found = [outage.reachability]
    outage.succeeded()
    found.append(outage.reachability)
    silent(outage, 100, 1)
    found.append(outage.reachability)
    silent(outage, 100, THRESHOLD - 1)
    found.append(outage.reachability)
    outage.succeeded()
    found.append(outage.reachability)
    outage.forget()
    found.append(outage.reachability)
    assert found == [
        ("unknown", None),
        ("yes", None),
        ("unknown", GONE),
        ("no", GONE),
        ("yes", None),
        ("unknown", None),
    ]


def test_its_store_is_looked_at_when_it_opens_and_closes_and_soon_after_the_first_failure() -> None:
    looks: list[float] = []
    outage = CircuitBreaker(Doubling(1, 60), looks.append)
    outage.succeeded()
    assert looks == []
    silent(outage, 100, THRESHOLD - 1)
    assert looks == [DOUBT_AFTER]
    silent(outage, 100, 1)
    assert looks == [DOUBT_AFTER, 0]
    outage.succeeded()
    outage.succeeded()
    assert looks == [DOUBT_AFTER, 0, 0]
