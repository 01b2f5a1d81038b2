"""When a run or a login that failed is repeated: one row for each class of errors."""

import asyncio

import pytest

from syncret.config.settings import Settings
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.engine.retry import MAX_CONFLICT_RETRIES, LoginBackoff, call_policy, rules_of
from syncret.daemon.homes.contract import Conflict, StorageUnavailable
from syncret.providers.errors import Denied, Malformed, OverBudget, SyncError, Throttled, Unavailable
from syncret.providers.kit.retry import DEFAULT, PAUSES, RetryPolicy

RULES = rules_of(Settings(retry_min=1, retry_max=300, spread=True))
STEADY = rules_of(Settings(retry_min=1, retry_max=300, spread=False))
NOW = 1000.0


@pytest.mark.parametrize(
    ("failures", "failure", "expected"),
    [
        pytest.param(1, Unavailable("x"), 1, id="first"),
        pytest.param(4, Unavailable("x"), 8, id="doubling"),
        pytest.param(20, Unavailable("x"), 300, id="bounded"),
        pytest.param(10**6, Unavailable("x"), 300, id="bounded after a year"),
        pytest.param(1, SyncError("x"), 1, id="unknown"),
        pytest.param(2, StorageUnavailable("x"), 2, id="the home"),
        pytest.param(1, Conflict("x"), 1, id="one conflict too many"),
        pytest.param(1, Denied("x"), 32, id="denied is slow"),
        pytest.param(1, Malformed("x"), 32, id="malformed is slow"),
        pytest.param(1, OverBudget("x"), 32, id="so is what asks for too much"),
        pytest.param(9, Denied("x"), 300, id="and bounded"),
        pytest.param(1, Throttled("x"), 1, id="throttled without a word"),
        pytest.param(1, Throttled("x", retry_after=50), 50, id="the server's word"),
        pytest.param(8, Throttled("x", retry_after=50), 128, id="backoff is longer"),
        pytest.param(1, Throttled("x", retry_after=4000), 4000, id="the server may ask for more"),
    ],
)
def test_pauses(failures: int, failure: Failure, expected: float) -> None:
    assert RULES.pause(failure, failures) == expected
    assert RULES.pause(failure, failures, chance=1.0) == pytest.approx(expected * 1.2)
    assert STEADY.pause(failure, failures, chance=1.0) == expected


@pytest.mark.parametrize(
    ("planned", "failure", "expected"),
    [
        pytest.param(None, None, None, id="only after a change"),
        pytest.param(NOW + 60, None, NOW + 60, id="as planned"),
        pytest.param(NOW, None, NOW + 1, id="never at once"),
        pytest.param(NOW - 60, None, NOW + 1, id="planned in the past"),
        pytest.param(None, Unavailable("x"), NOW + 4, id="a retry"),
        pytest.param(NOW + 60, Unavailable("x"), NOW + 4, id="a retry before the plan"),
        pytest.param(NOW + 2, Unavailable("x"), NOW + 2, id="the plan before a retry"),
        pytest.param(NOW + 2, Denied("x"), NOW + 2, id="the plan before a slow retry"),
        pytest.param(NOW - 60, Unavailable("x"), NOW + 1, id="failed, planned in the past"),
        pytest.param(NOW + 2, Throttled("x", retry_after=50), NOW + 50, id="the server's word counts"),
        pytest.param(None, Throttled("x"), NOW + 4, id="throttled without a word"),
    ],
)
def test_when_an_object_runs_again(
    planned: float | None, failure: Failure | None, expected: float | None
) -> None:
    assert RULES.next_due(planned, failure, 3, now=NOW) == expected


@pytest.mark.parametrize(
    ("failure", "times", "expected"),
    [
        pytest.param(Conflict("x"), 1, True, id="conflict"),
        pytest.param(Conflict("x"), MAX_CONFLICT_RETRIES, True, id="the last conflict"),
        pytest.param(Conflict("x"), MAX_CONFLICT_RETRIES + 1, False, id="one too many"),
        pytest.param(StorageUnavailable("x"), 1, False, id="the home"),
        pytest.param(Unavailable("x"), 1, False, id="a store"),
    ],
)
def test_what_is_repeated_at_once(failure: Failure, times: int, *, expected: bool) -> None:
    assert RULES.is_immediate(failure, times) is expected


@pytest.mark.parametrize(
    ("error", "failures", "expected"),
    [
        pytest.param(Denied("x"), 1, 1, id="denied"),
        pytest.param(Denied("x"), 4, 8, id="denied again and again"),
        pytest.param(Unavailable("x"), 3, 4, id="no answer"),
        pytest.param(Throttled("x", retry_after=50), 3, 4, id="the bucket has the server's word"),
        pytest.param(Unavailable("x"), 10**4, 300, id="bounded"),
    ],
)
async def test_when_a_client_is_opened_again(error: SyncError, failures: int, expected: float) -> None:
    login = LoginBackoff(Settings(retry_min=1, retry_max=300))
    for number in range(failures):
        login.failed(error, sent_at=float(number))
    with pytest.raises(type(error), match="x"):
        login.check()
    await asyncio.sleep(expected - 0.01)
    with pytest.raises(type(error), match="x"):
        login.check()
    await asyncio.sleep(0.02)
    login.check()


async def test_what_was_not_sent_is_tried_again_at_once() -> None:
    login = LoginBackoff(Settings())
    login.failed(Malformed("there is no such Secret"), sent_at=1.0)
    login.check()


class Door:
    """A login that is refused or not, and how often it was tried."""

    def __init__(self) -> None:
        self.tries = 0
        self.error: SyncError | None = Denied("wrong password")

    async def __call__(self) -> str:
        self.tries += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return "token"


async def test_a_refused_login_is_remembered_with_a_delay_that_doubles() -> None:
    refusals: list[float] = []
    login, door = LoginBackoff(Settings(retry_min=1, retry_max=300), refusals.append), Door()
    for _ in range(60):
        with pytest.raises(Denied, match="wrong password"):
            await login(door)
        await asyncio.sleep(1)
    assert (door.tries, refusals) == (6, [1, 2, 4, 8, 16, 32])
    known = [login.is_refused]
    door.error = None
    await asyncio.sleep(3)
    assert await login(door) == "token"
    assert [*known, login.is_refused] == [True, False]
    door.error = Denied("wrong password")
    for _ in range(2):
        with pytest.raises(Denied):
            await login(door)
    assert refusals[6:] == [1]


async def test_a_login_without_an_answer_is_not_remembered() -> None:
    login, door = LoginBackoff(Settings()), Door()
    door.error = Unavailable("no answer")
    for _ in range(2):
        with pytest.raises(Unavailable):
            await login(door)
    assert door.tries == 2


async def test_a_login_within_a_login_counts_once() -> None:
    refusals: list[float] = []
    login, door = LoginBackoff(Settings(), refusals.append), Door()
    await asyncio.sleep(1)

    async def role() -> str:
        try:
            return await login(door)
        except Denied:
            raise Denied("the role cannot be assumed") from None

    with pytest.raises(Denied, match="the role"):
        await login(role)
    assert refusals == [1]


def test_how_calls_are_retried() -> None:
    assert call_policy(Settings()) == DEFAULT
    assert call_policy(Settings(call_attempts=5, spread=False)) == RetryPolicy(5, PAUSES.without_jitter())
