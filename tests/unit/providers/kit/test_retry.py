"""The retry policy, on virtual time."""

import asyncio

import pytest

from syncret.providers.errors import Denied, Throttled, Unavailable
from syncret.providers.kit.retry import Retry, RetryPolicy, retried

pytestmark = pytest.mark.time("virtual")


def now() -> float:
    return asyncio.get_running_loop().time()


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
