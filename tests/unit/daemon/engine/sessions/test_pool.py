"""Engine and sessions together: what many objects of few stores cost in provider calls and in time."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.reconciler import Dependency, Outcome
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.sessions.read_batching import ANSWER_LIFETIME, due_since
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.contract import RemoteRef
from syncret.providers.errors import SyncError
from tests.unit.daemon.engine.support import GROUP, Manager, OneProvider, manifest, settings, store


class Reading:
    """A reconciler that reads one key of one store, and is due again a minute after the last slot."""

    def __init__(self, inventory: Inventory, sessions: SessionPool, clock: Clock) -> None:
        self.group_kind = GroupKind(GROUP, "ExternalSecret")
        self.late: dict[str, list[float]] = {}
        self._inventory = inventory
        self._sessions = sessions
        self._clock = clock

    def reads(self, kind: GroupKind) -> bool:
        return kind == self.group_kind

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        return [Dependency(ObjectRef("", "Lane", "", stored.document["spec"]["store"]))]

    def store_lane(self, ref: ObjectRef, dependencies: Sequence[ObjectRef]) -> str:
        return dependencies[0].name

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        del writes
        stored = self._inventory.get(ref)
        assert stored is not None
        spec = stored.document["spec"]
        session = self._sessions.session(store(spec["store"]), "default")
        [answer] = (await session.read([RemoteRef(spec["key"])])).values()
        now = self._clock.now()
        self.late.setdefault(spec["store"], []).append(now % 60)
        return Outcome(now - now % 60 + 60, answer if isinstance(answer, SyncError) else None)


@asynccontextmanager
async def running(
    managers: dict[str, Manager], clock: Clock, objects: Iterable[tuple[str, str]], *, batch_size: int = 1
) -> AsyncGenerator[Reading, None]:
    """The engine over objects that each read (store, key)."""
    home = MemoryCluster(now=clock.now)
    for number, (name, key) in enumerate(objects):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={"store": name, "key": key}))
    providers = {name: manager.provider(batch_size=batch_size) for name, manager in managers.items()}
    registry = OneProvider(next(iter(providers.values())))
    window = 0.002 if batch_size > 1 else 0.0
    knobs = settings(call_timeout=30.0, drain_timeout=0.0, batch_window=window)
    inventory = Inventory()
    async with SessionPool(
        registry, home, knobs, clock=clock, substitute=lambda ref, provider: providers[ref.name]
    ) as sessions:
        reading = Reading(inventory, sessions, clock)
        engine = Engine(home, [reading], inventory=inventory, clock=clock, settings=knobs)
        async with asyncio.TaskGroup() as group:
            group.create_task(engine.run())
            await engine.synced.wait()
            yield reading
            engine.stop()


@pytest.mark.parametrize("delay", [0.0, 0.01])
async def test_a_hundred_objects_on_one_key_are_one_read_each_time(clock: Clock, delay: float) -> None:
    manager = Manager({"k": "v"})
    manager.delay = delay
    async with running({"s": manager}, clock, [("s", "k")] * 100):
        await asyncio.sleep(59)
        assert len(manager.fetches) == 1
        await asyncio.sleep(120)
        assert len(manager.fetches) == 3


@pytest.mark.parametrize(
    ("size", "calls"), [pytest.param(1, 200, id="no batch API"), pytest.param(20, 10, id="batches of twenty")]
)
async def test_more_objects_than_can_run_at_once_are_one_read_a_key(
    clock: Clock, size: int, calls: int
) -> None:
    manager = Manager({f"k{number}": "v" for number in range(200)})
    manager.open_delay = manager.delay = 0.01
    objects = [("s", f"k{number % 200}") for number in range(2000)]
    async with running({"s": manager}, clock, objects, batch_size=size):
        await asyncio.sleep(30)
        assert len(manager.fetches) == calls
        assert sorted(key for keys in manager.fetches for key in keys) == sorted(manager.values)


async def test_an_answer_serves_nobody_who_came_after_its_call_began(clock: Clock) -> None:
    manager = Manager({"k": "v"})
    manager.delay = 0.01
    async with SessionPool(
        OneProvider(manager.provider()), MemoryCluster(now=clock.now), settings(), clock=clock
    ) as sessions:
        session = sessions.session(store("s"), "default")

        async def read(due: float) -> None:
            due_since.set(due)
            await session.read([RemoteRef("k")])

        loop = asyncio.get_running_loop()
        await asyncio.sleep(1)
        before = loop.time()
        await asyncio.sleep(1)
        await asyncio.create_task(read(before))
        after = loop.time()
        await asyncio.create_task(read(before))
        assert len(manager.fetches) == 1, "it was due before the call"
        await asyncio.create_task(read(after))
        assert len(manager.fetches) == 2
        await asyncio.sleep(ANSWER_LIFETIME + 1)
        await asyncio.create_task(read(before))
        assert len(manager.fetches) == 3, "a session is no cache"


async def test_one_store_that_hangs_leaves_the_other_nine_on_time(clock: Clock) -> None:
    managers = {f"s{number}": Manager({"k": "v"}) for number in range(10)}
    for manager in managers.values():
        manager.delay = 0.01
    managers["s0"].gate.clear()
    objects = [(name, f"k{number}") for name in managers for number in range(50)]
    async with running(managers, clock, objects) as reading:
        await asyncio.sleep(299)
        for name in list(managers)[1:]:
            assert len(reading.late[name]) == 50 * 5
            assert max(reading.late[name]) < 0.1
        assert managers["s0"].most_busy <= 128


async def test_an_outage_costs_few_calls_and_recovery_is_noticed(clock: Clock) -> None:
    manager = Manager({"k": "v"})
    manager.gate.clear()
    async with running({"s": manager}, clock, [("s", f"k{number}") for number in range(10)]) as reading:
        await asyncio.sleep(3600)
        assert len(manager.fetches) < 10 + 60, "of the store together, hardly more than one a minute"
        manager.gate.set()
        reading.late.clear()
        await asyncio.sleep(400)
        assert len(reading.late["s"]) > 10
