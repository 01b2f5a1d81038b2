"""The engine: how it stops, and what takes it down."""

import asyncio
from collections.abc import Iterable

import pytest

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine, SourceEnded
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.queue.workqueue import WorkQueue
from syncret.daemon.engine.reconciler import Dependency, Outcome
from syncret.daemon.engine.sessions.tasks import TaskOwner
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.unit.daemon.engine.engines import Reconciling, World
from tests.unit.daemon.engine.life import Life, manifest, secret, store, wanting
from tests.unit.daemon.engine.support import manifest as plain
from tests.unit.daemon.engine.support import settings


async def test_stopping_lets_runs_finish_within_the_deadline(home: MemoryCluster, clock: Clock) -> None:
    ended: list[str] = []

    async def slow(ref: ObjectRef, run: int) -> Outcome:
        try:
            await asyncio.sleep(5 if ref.name == "quick" else 1000)
        except asyncio.CancelledError:
            ended.append(f"{ref.name} cancelled")
            raise
        ended.append(ref.name)
        return Outcome()

    world = World(home, clock, drain_timeout=20.0)
    world.reconciling.behaviour = slow
    running = asyncio.create_task(world.engine.run())
    await world.create("quick")
    await world.create("slow")
    await asyncio.sleep(1)
    world.engine.stop()
    await world.create("late")
    await running
    assert ended == ["quick", "slow cancelled"]
    assert asyncio.get_running_loop().time() == 21


async def test_an_engine_that_abandons_waits_ends_without_the_stores(clock: Clock) -> None:
    """What waits for a store ends at once, also if it begins to wait only then."""
    loop = asyncio.get_running_loop()
    async with Life(clock).running(drain_timeout=60.0, call_timeout=1000.0) as life:
        await life.apply(store(), wanting())
        life.manager.gate.clear()
        await life.cluster.apply(wanting(key="other"))
        await asyncio.sleep(1)
        assert life.manager.busy == 1
        begin = loop.time()
        background = TaskOwner()
        await life.controllers.context.sessions.leave(background)
        await life.cluster.apply(wanting("y"))
        life.controllers.engine.stop(abandon_waits=True)
    assert loop.time() - begin < 1
    await background.close(60)
    assert (life.manager.busy, life.manager.closed) == (0, 1)


async def test_leaving_waits_for_what_changes_something_while_reads_go_on(clock: Clock) -> None:
    loop = asyncio.get_running_loop()
    async with Life(clock).running(drain_timeout=60.0, call_timeout=1000.0) as life:
        await life.apply(store(), secret("own", {"token": "t"}))
        life.manager.delay = 10.0
        spec = {"secretStoreRefs": [{"name": "s"}], "selector": {"secret": {"name": "own"}}}

        async def push(name: str) -> None:
            data = [{"match": {"secretKey": "token", "remoteRef": {"remoteKey": name}}}]
            await life.cluster.apply(manifest("PushSecret", name, {**spec, "data": data}))
            await asyncio.sleep(1)

        await push("first")
        assert life.manager.busy == 1
        background = TaskOwner()
        leaving = asyncio.create_task(life.controllers.context.sessions.leave(background))
        await push("held")
        life.manager.delay = 0.0
        await life.cluster.apply(wanting())
        await asyncio.sleep(1)
        assert not leaving.done()
        assert await life.data("x") == {"a": "v"}, "reads go on"
        await leaving
        assert loop.time() >= 10
        assert life.manager.values.get("first") == "t"
        await asyncio.sleep(100)
        assert "held" not in life.manager.values
        life.controllers.engine.stop(abandon_waits=True)
    await background.close(60)


async def test_cancelling_the_engine_ends_everything(home: MemoryCluster, clock: Clock) -> None:
    async def slow(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(1000)
        return Outcome()

    world = World(home, clock)
    world.reconciling.behaviour = slow
    running = asyncio.create_task(world.engine.run())
    await world.create("a")
    await asyncio.sleep(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


class EndingWatch:
    """A stream of events that ends by itself."""

    def __init__(self) -> None:
        self._left = [WatchEvent(WatchEventType.LISTED, GroupKind("", "Secret"))]

    def __aiter__(self) -> "EndingWatch":
        return self

    async def __anext__(self) -> WatchEvent:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()

    async def aclose(self) -> None:
        self._left.clear()


class EndingHome(MemoryCluster):
    """A home that goes away."""

    def watch(self) -> EndingWatch:  # type: ignore[override]  # the protocol's, not the cluster's own
        return EndingWatch()


async def test_a_source_that_ends_takes_the_engine_down(clock: Clock) -> None:
    engine = Engine(
        EndingHome(now=clock.now), [], inventory=Inventory(), queue=WorkQueue(clock), settings=settings()
    )
    with pytest.raises(ExceptionGroup) as raised:
        await engine.run()
    assert raised.group_contains(SourceEnded)


class Strict(Reconciling):
    """A reconciler whose model reads no document."""

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        return [Dependency(stored.as_type(ObjectRef))]


async def test_a_document_that_no_model_reads_stops_nobody(home: MemoryCluster, clock: Clock) -> None:
    inventory = Inventory()
    strict = Strict(inventory)
    engine = Engine(home, [strict], inventory=inventory, queue=WorkQueue(clock), settings=settings())
    await home.create(plain("ExternalSecret", "a", spec={}))
    running = asyncio.create_task(engine.run())
    await engine.wait_idle()
    assert [name for name, _ in strict.runs] == ["a"]
    engine.stop()
    await running


@pytest.mark.tells_at_once(reason="the moment of the end is counted from the change")
async def test_runs_and_calls_share_one_deadline(clock: Clock) -> None:
    loop = asyncio.get_running_loop()
    async with Life(clock).running(drain_timeout=3.0, call_timeout=1000.0) as life:
        await life.apply(store(), wanting())
        life.manager.gate.clear()
        await life.cluster.apply(wanting(key="other"))
        await asyncio.sleep(1)
        begin = loop.time()
    assert loop.time() - begin == 3
    assert life.manager.closed == 1
