"""The engine: failures back off, bugs stop nobody, deletions are tried until they succeed."""

import asyncio
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.homes.contract import Conflict, StorageUnavailable
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.errors import Denied, SyncError, Throttled, Unavailable
from tests.unit.daemon.engine.engines import Start
from tests.unit.daemon.engine.support import START, ref

pytestmark = pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(Unavailable("x"), [0, 1, 3, 7, 15, 31, 61, 91], id="doubling up to the longest"),
        pytest.param(SyncError("x"), [0, 1, 3, 7, 15, 31, 61, 91], id="any other"),
        pytest.param(Denied("x"), [0, 30, 60, 90], id="only a change would help"),
        pytest.param(Throttled("x", retry_after=40), [0, 40, 80], id="not before the server's word"),
        pytest.param(Throttled("x", retry_after=2), [0, 2, 4, 8, 16, 32, 62, 92], id="nor before backoff"),
        pytest.param(StorageUnavailable("full"), [0, 1, 3, 7, 15, 31, 61, 91], id="the home"),
    ],
)
@pytest.mark.parametrize("how", ["raised", "returned"])
async def test_a_failure_backs_off(
    start: Start, failure: SyncError | StorageUnavailable, expected: list[float], how: str
) -> None:
    async def failing(ref: ObjectRef, run: int) -> Outcome:
        if how == "raised":
            raise failure
        return Outcome(next_due=START + 3600, failure=failure)

    async with start(retry_max=30.0) as world:
        world.reconciling.behaviour = failing
        await world.create("a")
        await asyncio.sleep(100)
        assert world.reconciling.times("a") == expected
        assert world.recorder.raised == [("a", str(failure))] * (len(expected) if how == "raised" else 0)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(Denied("x"), [0, 10, 20], id="its own time comes first"),
        pytest.param(Throttled("x", retry_after=15), [0, 15], id="the server's word counts more"),
    ],
)
async def test_a_failed_object_keeps_its_own_time(
    start: Start, clock: Clock, failure: SyncError, expected: list[float]
) -> None:
    async def failing(ref: ObjectRef, run: int) -> Outcome:
        return Outcome(next_due=clock.now() + 10, failure=failure)

    async with start() as world:
        world.reconciling.behaviour = failing
        await world.create("a")
        await asyncio.sleep(25)
        assert world.reconciling.times("a") == expected


async def test_a_time_that_has_passed_does_not_make_it_spin(start: Start) -> None:
    async def past(ref: ObjectRef, run: int) -> Outcome:
        return Outcome(next_due=START - 1)

    async with start() as world:
        world.reconciling.behaviour = past
        await world.create("a")
        await asyncio.sleep(3.5)
        assert world.reconciling.times("a") == [0, 1, 2, 3]


async def test_success_resets_the_backoff(start: Start, clock: Clock) -> None:
    async def mostly_failing(ref: ObjectRef, run: int) -> Outcome:
        if run == 3:
            return Outcome(next_due=clock.now() + 1)
        raise Unavailable("x")

    async with start() as world:
        world.reconciling.behaviour = mostly_failing
        await world.create("a")
        await asyncio.sleep(13)
        assert world.reconciling.times("a") == [0, 1, 3, 7, 8, 9, 11]
        assert world.engine.failures(ref("a")) == 3


async def test_jitter_only_lengthens(start: Start) -> None:
    async def failing(ref: ObjectRef, run: int) -> Outcome:
        raise Unavailable("x")

    async with start(spread=True) as world:
        world.reconciling.behaviour = failing
        for number in range(20):
            await world.create(f"x{number}")
        await asyncio.sleep(1.3)
        firsts = {world.reconciling.times(f"x{number}")[1] for number in range(20)}
        assert len(firsts) > 10
        assert all(1 <= first <= 1.2 for first in firsts)


async def test_a_bug_is_counted_and_stops_nobody(start: Start) -> None:
    async def broken(ref: ObjectRef, run: int) -> Outcome:
        if ref.name == "a":
            raise KeyError("a secret value")
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = broken
        await world.create("a")
        await world.create("b")
        await asyncio.sleep(2)
        assert len(world.reconciling.times("b")) == 1
        assert world.reconciling.times("a") == [0, 1]
        told, kind, where = world.recorder.bugs[0]
        assert (told, kind) == (ref("a"), "KeyError")
        assert any(Path(__file__).name in place and "in broken" in place for place in where)
        assert "a secret value" not in repr(world.recorder.bugs)
        assert str(world.recorder.runs[0].failure) == "internal error: KeyError"


async def test_a_conflict_is_run_again_at_once_but_not_for_ever(start: Start) -> None:
    async def conflicting(ref: ObjectRef, run: int) -> Outcome:
        if ref.name == "b" and run == 2:
            return Outcome()
        raise Conflict("changed")

    async with start() as world:
        world.reconciling.behaviour = conflicting
        await world.create("a")
        await world.create("b")
        await asyncio.sleep(0.5)
        assert len(world.reconciling.times("a")) == 6
        assert len(world.reconciling.times("b")) == 3
        assert world.engine.failures(ref("a")) == 1
        assert world.engine.failures(ref("b")) == 0
        assert sorted(world.recorder.repeated) == [*("a" * 5), *("b" * 2)]


async def test_a_deleted_object_is_cleaned_up_and_forgotten(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        await world.create("a")
        await world.engine.wait_idle()
        await home.remove(ref("a"))
        await world.engine.wait_idle()
        assert world.reconciling.seen["a"] is None
        assert world.recorder.left == [ref("a")]
        assert world.engine.due(ref("a")) is None


async def test_cleaning_up_is_tried_until_it_succeeds(home: MemoryCluster, start: Start) -> None:
    async def failing(ref: ObjectRef, run: int) -> Outcome:
        if 1 <= run < 4:
            raise Unavailable("x")
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = failing
        await world.create("a")
        await world.engine.wait_idle()
        await home.remove(ref("a"))
        await asyncio.sleep(100)
        assert len(world.reconciling.times("a")) == 5
        assert world.recorder.left == [ref("a")]
