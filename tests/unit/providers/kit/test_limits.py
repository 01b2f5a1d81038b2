import asyncio
import math

import pytest

from syncret.providers.errors import Throttled
from syncret.providers.kit.limits import FLOOR, PAUSES, RECOVERY, Bucket, Limiter

pytestmark = pytest.mark.time("virtual")


def spend(bucket: Bucket, now: float, calls: int) -> float:
    """Start so many calls one after the other, as soon as each may, and say when the last one did."""
    for _ in range(calls):
        now += bucket.delay(now)
        bucket.spend()
    return now


@pytest.mark.parametrize(
    ("rate", "burst", "calls", "expected"),
    [
        pytest.param(10, 5, 5, 0.0, id="a burst is free"),
        pytest.param(10, 5, 6, 0.1, id="the next one waits"),
        pytest.param(10, 5, 25, 2.0, id="then the rate counts"),
        pytest.param(0.5, 1, 3, 4.0, id="less than one a second"),
        pytest.param(10, 0, 2, 0.1, id="a burst is at least one"),
        pytest.param(math.inf, 1, 1000, 0.0, id="no limit"),
    ],
)
def test_calls_start_as_fast_as_allowed(rate: float, burst: float, calls: int, expected: float) -> None:
    assert spend(Bucket(rate, burst, 0.0), 0.0, calls) == pytest.approx(expected)


def test_an_idle_bucket_fills_up_to_its_burst() -> None:
    bucket = Bucket(10, 5, 0.0)
    spend(bucket, 0.0, 5)
    assert spend(bucket, 1000.0, 5) == 1000.0
    assert bucket.delay(1000.0) == pytest.approx(0.1)


def test_who_stands_further_back_waits_longer() -> None:
    bucket = Bucket(10, 1, 0.0)
    bucket.spend()
    assert [bucket.delay(0.0, ahead=ahead) for ahead in range(3)] == pytest.approx([0.1, 0.2, 0.3])


def test_a_refund_gives_the_call_back() -> None:
    bucket = Bucket(1, 1, 0.0)
    bucket.spend()
    bucket.refund()
    assert bucket.delay(0.0) == 0


@pytest.mark.parametrize("retry_after", [0.5, 30.0, 86400.0])
def test_the_gate_is_closed_for_as_long_as_the_server_asks(retry_after: float) -> None:
    bucket = Bucket(10, 5, 0.0)
    bucket.throttled(100.0, retry_after)
    assert bucket.delay(100.0) == pytest.approx(retry_after)
    assert bucket.delay(100.0 + retry_after) == 0


def test_after_the_gate_there_is_no_burst() -> None:
    bucket = Bucket(10, 100, 0.0)
    bucket.throttled(0.0, 10.0)
    assert spend(bucket, 0.0, 2) > 10.05


def test_a_shorter_word_does_not_open_a_gate_that_is_closed_for_longer() -> None:
    bucket = Bucket(10, 5, 0.0)
    bucket.throttled(0.0, 60.0)
    bucket.throttled(1.0, 2.0)
    assert bucket.delay(1.0) == pytest.approx(59.0)


def test_without_a_word_the_gate_closes_longer_each_time() -> None:
    bucket = Bucket(10, 5, 0.0)
    now, waits = 0.0, list[float]()
    for _ in range(8):
        bucket.throttled(now, None)
        waits.append(bucket.delay(now))
        now += waits[-1]
    assert waits == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60])
    bucket.succeeded()
    bucket.throttled(now, None)
    assert bucket.delay(now) == pytest.approx(PAUSES.first)


def test_calls_that_were_under_way_together_are_throttled_once() -> None:
    bucket = Bucket(8, 8, 0.0)
    for _ in range(8):
        bucket.throttled(0.0, None)

    assert bucket.delay(0.0) == pytest.approx(PAUSES.first)
    assert bucket.effective() == 4


def test_of_calls_that_were_under_way_together_the_longest_word_counts() -> None:
    bucket = Bucket(8, 8, 0.0)
    for word in (None, 7.0, 3.0):
        bucket.throttled(0.0, word)

    assert bucket.delay(0.0) == pytest.approx(7.0)
    assert bucket.effective() == 4


def test_throttling_halves_the_rate_and_it_recovers_slowly() -> None:
    bucket = Bucket(8, 1, 0.0)
    bucket.throttled(0.0, 0.0)
    bucket.throttled(0.0, 0.0)
    assert bucket.effective() == 2
    bucket.delay(RECOVERY / 2)
    assert bucket.effective() == 6
    bucket.delay(RECOVERY)
    assert bucket.effective() == 8


def test_a_rate_never_comes_down_to_nothing() -> None:
    bucket = Bucket(64, 1, 0.0)
    for _ in range(100):
        bucket.throttled(0.0, 0.0)
    assert bucket.effective() == 64 * FLOOR


def test_new_bounds_count_at_once() -> None:
    bucket = Bucket(1, 100, 0.0)
    bucket.configure(10, 2, 0.0)
    assert spend(bucket, 0.0, 3) == pytest.approx(0.1)


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
    limiter = Limiter(0.1, 1, max_wait=2)
    await asyncio.gather(*(limiter.take() for _ in range(100)))
    assert now() == pytest.approx(990)


async def test_a_closed_gate_sends_everyone_away() -> None:
    limiter = Limiter(1, 1, max_wait=10)
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
    limiter = Limiter(1000, 10, max_wait=10)
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


async def test_urgent_calls_go_first() -> None:
    limiter = Limiter(1, 1)
    await limiter.take()
    begun: list[str] = []

    async def call(name: str, *, urgent: bool) -> None:
        await limiter.take(urgent=urgent)
        begun.append(name)

    async with asyncio.TaskGroup() as group:
        for name in ("a", "b", "urgent", "urgent too"):
            group.create_task(call(name, urgent=name.startswith("urgent")))
            await asyncio.sleep(0)
        assert limiter.stats().waiting == 4
    assert begun == ["urgent", "urgent too", "a", "b"]
