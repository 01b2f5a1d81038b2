"""Several replicas: an object that another one owns is known, and not run until it becomes ours."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from syncret.config.meta import ObjectRef, member
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.homes.contract import StorageUnavailable, StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.unit.daemon.engine.engines import Start, World
from tests.unit.daemon.engine.support import manifest, ref

HOUR = 3600.0


class Shared(MemoryCluster):
    """A cluster that other replicas act on, too."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(now=clock.now)
        self._others: frozenset[str] = frozenset()
        self._changed = asyncio.Event()
        self.is_down = False

    def assign(self, *others: str) -> None:
        """These objects are another replica's from now on, all others ours."""
        self._others = frozenset(others)
        self._changed.set()

    def owns(self, ref: ObjectRef) -> bool:
        return ref.name not in self._others

    async def ownership_changed(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        if self.is_down:
            raise StorageUnavailable("no answer")
        return await super().update_status(seen, status)


@pytest.fixture
async def home(clock: Clock) -> Shared:
    return Shared(clock)


async def settle(world: World) -> None:
    """Wait until a change of ownership has been followed, and what it causes is over."""
    await asyncio.sleep(0)
    await world.engine.wait_idle()


def runs(world: World) -> list[str]:
    return [name for name, _ in world.reconciling.runs]


async def test_what_is_anothers_is_known_and_not_run(home: Shared, start: Start) -> None:
    home.assign("a", "z")
    await home.create(manifest("ExternalSecret", "a", spec={}))
    await home.create(manifest("ExternalSecret", "b", spec={}))
    async with start() as world:
        assert runs(world) == ["b"]
        assert world.engine.first_pass.is_set(), "it is another's first pass that waits for it"
        await world.create("z", uses=["login"])
        await home.create(manifest("Secret", "login", group=""))
        await world.change("a", number=1)
        assert world.engine.refresh(ref("a"))
        await settle(world)
        world.engine.requeue_all()
        await settle(world)
        assert runs(world) == ["b", "b"]
        assert world.reconciling.known[-1] == 3
        assert world.engine.queue.stats().ready == 0


async def test_what_became_ours_is_run_once(home: Shared, start: Start) -> None:
    home.assign("a", "c")
    for name in "abc":
        await home.create(manifest("ExternalSecret", name, spec={}))
    async with start() as world:
        await world.change("a", number=1)
        await settle(world)
        home.assign("c")
        await settle(world)
        assert runs(world) == ["b", "a"]
        assert world.reconciling.seen["a"] == {"number": 1}
        home.assign("c")
        await settle(world)
        assert runs(world) == ["b", "a"], "it was ours already"


async def test_what_became_anothers_is_neither_due_nor_overdue(
    home: Shared, start: Start, clock: Clock
) -> None:
    async def hourly(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(600 if ref.name == "slow" else 0)
        return Outcome(next_due=clock.now() + HOUR)

    async with start(hourly, store_workers=1) as world:
        await world.create("a")
        await settle(world)
        await world.create("slow", lane="one")
        await asyncio.sleep(10)
        await world.create("behind", lane="one")
        await asyncio.sleep(10)
        assert world.engine.queue.stats().ready == 1
        home.assign("a", "behind")
        await asyncio.sleep(10)
        stats = world.engine.queue.stats()
        assert (stats.ready, stats.scheduled) == (0, 0)
        assert stats.oldest == stats.longest, "of what is ours, and runs"
        assert world.engine.due(ref("a")) is None
        await asyncio.sleep(3 * HOUR)
        assert [name for name in runs(world) if name != "slow"] == ["a"]
        home.assign()
        await settle(world)
        assert sorted(name for name in runs(world) if name != "slow") == ["a", "a", "behind"]
        assert world.engine.due(ref("a")) is not None


async def test_none_of_many_that_became_anothers_begins_to_run(home: Shared, start: Start) -> None:
    gate = asyncio.Event()

    async def gated(ref: ObjectRef, run: int) -> Outcome:
        await gate.wait()
        return Outcome()

    async with start(gated, workers=1) as world:
        names = [f"x{number}" for number in range(1000)]
        for name in names:
            await world.create(name)
        await asyncio.sleep(5)
        assert world.engine.queue.stats().ready == 999
        home.assign(*names)
        gate.set()
        await settle(world)
        assert len(runs(world)) == 1
        assert world.engine.queue.stats().ready == 0


async def test_a_run_goes_on_when_its_object_becomes_anothers_and_is_the_last(
    home: Shared, start: Start, clock: Clock
) -> None:
    ended: list[str] = []

    async def slow(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(7)
        ended.append(ref.name)
        return Outcome(next_due=clock.now() + HOUR)

    async with start(slow) as world:
        await world.create("a")
        await asyncio.sleep(5)
        await world.change("a", number=1)
        home.assign("a")
        await asyncio.sleep(20)
        assert world.engine.due(ref("a")) is None
        await asyncio.sleep(2 * HOUR)
        assert (ended, runs(world)) == (["a"], ["a"])
        home.assign()
        await asyncio.sleep(60)
        assert runs(world) == ["a", "a"]


async def test_a_run_that_hangs_is_ended_soon_after_its_object_became_anothers(
    home: Shared, start: Start, clock: Clock
) -> None:
    ended: list[str] = []
    hangs = True

    async def hanging(ref: ObjectRef, run: int) -> Outcome:
        if hangs or ref.name == "b":
            await asyncio.sleep(60)
        ended.append(ref.name)
        return Outcome(next_due=clock.now() + HOUR)

    async with start(hanging) as world:
        await world.create("a")
        await world.create("b")
        await asyncio.sleep(5)
        home.assign("a")
        await asyncio.sleep(2)
        assert world.engine.queue.stats().running == 2
        await asyncio.sleep(2)
        assert world.engine.queue.stats().running == 1, "b is still ours"
        assert world.engine.due(ref("a")) is None
        hangs = False
        home.assign()
        await asyncio.sleep(60)
        assert sorted(ended) == ["a", "b"]
        assert runs(world).count("a") == 2


async def test_what_a_run_came_to_is_not_reported_over_what_another_replica_reported(
    home: Shared, start: Start
) -> None:
    async def reporting(ref: ObjectRef, run: int) -> Outcome:
        if run == 0:
            seen = world.inventory.get(ref)
            assert seen is not None
            await world.reconciling.writes.update_status(seen, {"refreshTime": "ours"})
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = reporting
        home.is_down = True
        created = await world.create("a")
        await asyncio.sleep(1)
        assert len(world.engine.failing) == 1
        home.assign("a")
        await settle(world)
        assert not world.engine.failing
        home.is_down = False
        newest = await home.get(created.ref)
        assert newest is not None
        await home.update_status(newest, {"refreshTime": "another's"})
        await settle(world)
        home.assign()
        await settle(world)
        found = await home.get(created.ref)
        assert found is not None
        assert member(found.document, "status") == {"refreshTime": "another's"}


async def test_what_goes_while_it_is_anothers_is_forgotten(home: Shared, start: Start) -> None:
    async with start() as world:
        created = await world.create("a")
        await settle(world)
        home.assign("a")
        await settle(world)
        await home.remove(created.ref)
        await settle(world)
        assert runs(world) == ["a", "a"]
        assert world.reconciling.seen["a"] is None, "nothing is left of it to act on"
        await world.create("a")
        await settle(world)
        assert len(runs(world)) == 2, "it is another's again"
