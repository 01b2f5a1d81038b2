"""The retry policy, on virtual time."""

import asyncio
from typing import Any

import pytest

from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.errors import Denied, Malformed, Throttled, Unavailable
from syncret.providers.kit.retry import DEFAULT, ONCE, Doubling, Retry, RetryPolicy, policy_of, retried

pytestmark = pytest.mark.time("virtual")


def now() -> float:
    return asyncio.get_running_loop().time()


class Call:
    """Fails as configured, then succeeds."""

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
    policy = RetryPolicy(6, Doubling(1, 4))
    assert await retried(call, policy, on_retry=heard.append) == "done"
    assert call.times == [0, 1, 3, 7, 11, 15]
    assert [(retry.attempt, retry.pause) for retry in heard] == [(1, 1), (2, 2), (3, 4), (4, 4), (5, 4)]


async def test_jitter_stays_below_the_pause() -> None:
    call = Call(*(Unavailable("x") for _ in range(3)))
    await retried(call, RetryPolicy(4, Doubling(1, 4, jitter=-1.0)))
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
    task = asyncio.create_task(retried(Call(Unavailable("x")), RetryPolicy(2, Doubling(100, 100))))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert now() == 1


@pytest.mark.parametrize(
    ("failures", "chance", "expected"),
    [
        pytest.param(1, 0, (1, 1, 1), id="first"),
        pytest.param(3, 0, (4, 4, 4), id="doubling"),
        pytest.param(7, 0, (60, 60, 60), id="bounded"),
        pytest.param(10**6, 0, (60, 60, 60), id="bounded after a year"),
        pytest.param(0, 0, (1, 1, 1), id="none yet"),
        pytest.param(3, 0.5, (4, 6, 2), id="half a chance"),
        pytest.param(7, 1, (60, 120, 0), id="all of it"),
    ],
)
def test_doubling(failures: int, chance: float, expected: tuple[float, float, float]) -> None:
    found = tuple(Doubling(1, 60, jitter).pause(failures, chance=chance) for jitter in (0.0, 1.0, -1.0))
    assert found == expected


@pytest.mark.parametrize(
    ("settings", "default", "expected"),
    [
        pytest.param(None, DEFAULT, DEFAULT, id="none"),
        pytest.param({}, RetryPolicy(7), RetryPolicy(7), id="empty"),
        pytest.param({"max_retries": 2}, ONCE, RetryPolicy(3), id="retries"),
        pytest.param({"max_retries": -1}, DEFAULT, RetryPolicy(1), id="less than none"),
        pytest.param(
            {"retry_interval": "5s"},
            RetryPolicy(2),
            RetryPolicy(2, Doubling(5, 5)),
            id="no jitter",
        ),
        pytest.param({"retry_interval": "1h"}, DEFAULT, RetryPolicy(3, Doubling(30, 30)), id="bounded"),
        pytest.param({"retry_interval": "-5s"}, DEFAULT, RetryPolicy(3, Doubling(0, 0)), id="negative"),
    ],
)
def test_what_settings_ask_for(
    settings: dict[str, Any] | None, default: RetryPolicy, expected: RetryPolicy
) -> None:
    asked = None if settings is None else RetrySettings(**settings)
    assert policy_of(asked, default, path="spec.retrySettings") == expected


def test_an_interval_that_is_none() -> None:
    with pytest.raises(Malformed, match=r"^spec\.retrySettings\.retryInterval: ") as caught:
        policy_of(RetrySettings(retry_interval="soon"), DEFAULT, path="spec.retrySettings")
    assert caught.value.hint == "write 1m or 10s"
