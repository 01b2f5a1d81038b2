"""The waiting parts of the kit: the limiter's queue and the retry policy."""

import asyncio

import pytest

from syncret.providers.errors import Denied, Throttled, Unavailable
from syncret.providers.kit.limits import Limiter
from syncret.providers.kit.retry import Retry, RetryPolicy, retried


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_callers_pass_in_the_order_in_which_they_came() -> None:
    limiter = Limiter(10, 1)
    passed: list[tuple[int, float]] = []

    async def call(number: int) -> None:
        await limiter.take()
        passed.append((number, round(now(), 6)))

    await asyncio.gather(*(call(number) for number in range(5)))
    assert passed == [(0, 0), (1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4)]
    stats = limiter.stats()
    assert (stats.calls, round(stats.waited, 6), stats.waiting) == (5, 1.0, 0)


async def test_who_gives_up_costs_no_token() -> None:
    limiter = Limiter(1, 1)
    await limiter.take()
    first, second = (asyncio.create_task(limiter.take()) for _ in range(2))
    await asyncio.sleep(0.5)
    first.cancel()
    await second
    assert now() == pytest.approx(1)


async def test_who_gives_up_at_the_last_moment_costs_no_token() -> None:
    limiter = Limiter(1, 1)
    await limiter.take()
    first, second = (asyncio.create_task(limiter.take()) for _ in range(2))
    asyncio.get_running_loop().call_at(1.0, first.cancel)
    await second
    assert now() == pytest.approx(1)


async def test_a_low_rate_makes_callers_wait_for_as_long_as_it_takes() -> None:
    limiter = Limiter(0.1, 1, patience=2)
    await asyncio.gather(*(limiter.take() for _ in range(100)))
    assert now() == pytest.approx(990)


async def test_a_closed_gate_sends_everyone_away() -> None:
    limiter = Limiter(1, 1, patience=10)
    await limiter.take()
    waiting = [asyncio.create_task(limiter.take()) for _ in range(3)]
    await asyncio.sleep(0.5)
    assert limiter.throttled(60) == 60
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [Throttled] * 3
    assert repr(limiter) == "<Limiter 0.5/s waiting=0 closed for 60.0s>"
    await asyncio.sleep(60)
    assert await limiter.take() == 0


async def test_a_gate_that_is_closed_for_a_moment_is_waited_for() -> None:
    limiter = Limiter(1000, 10, patience=10)
    limiter.throttled(3)
    assert await limiter.take() == pytest.approx(3)


async def test_a_higher_rate_counts_for_those_who_wait() -> None:
    limiter = Limiter(0.2, 1)
    await limiter.take()
    waiting = asyncio.create_task(limiter.take())
    await asyncio.sleep(1)
    limiter.configure(10, 1)
    await waiting
    assert now() == pytest.approx(1.08, abs=0.03)


class Call:
    """Fails as told, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(now())
        if self.errors:
            raise self.errors.pop(0)
        return "done"


async def test_pauses_double_up_to_the_longest() -> None:
    call = Call(*(Unavailable("x") for _ in range(5)))
    heard: list[Retry] = []
    policy = RetryPolicy(attempts=6, first=1, longest=4, jitter=False)
    assert await retried(call, policy, on_retry=heard.append) == "done"
    assert call.times == [0, 1, 3, 7, 11, 15]
    assert [(retry.attempt, retry.pause) for retry in heard] == [(1, 1), (2, 2), (3, 4), (4, 4), (5, 4)]


async def test_jitter_stays_below_the_pause() -> None:
    call = Call(*(Unavailable("x") for _ in range(3)))
    await retried(call, RetryPolicy(attempts=4, first=1, longest=4))
    pauses = [after - before for before, after in zip(call.times, call.times[1:], strict=False)]
    assert all(0 <= pause <= limit for pause, limit in zip(pauses, (1, 2, 4), strict=True))


@pytest.mark.parametrize("error", [Denied("x"), Throttled("x", retry_after=1), ValueError("a bug")])
async def test_what_another_try_cannot_help_is_raised_at_once(error: Exception) -> None:
    call = Call(error)
    with pytest.raises(type(error)) as caught:
        await retried(call, RetryPolicy(attempts=5))
    assert caught.value is error
    assert call.times == [0]


async def test_the_last_error_is_raised_as_it_is() -> None:
    errors = [Unavailable("first"), Unavailable("last")]
    with pytest.raises(Unavailable, match="last"):
        await retried(Call(*errors), RetryPolicy(attempts=2))


async def test_a_pause_can_be_cancelled() -> None:
    task = asyncio.create_task(
        retried(Call(Unavailable("x")), RetryPolicy(attempts=2, first=100, longest=100, jitter=False))
    )
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert now() == 1
