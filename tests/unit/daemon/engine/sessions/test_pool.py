"""Engine and sessions together: what many objects of few stores cost in provider calls and in time."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

import pytest

from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine, work_queue
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.queue.current_run import CurrentRun, current_run
from syncret.daemon.engine.queue.workqueue import WorkQueue
from syncret.daemon.engine.reconciler import Dependency, Outcome
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.sessions.read_batching import ANSWER_LIFETIME
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.contract import RemoteRef
from syncret.providers.errors import SyncError
from tests.unit.daemon.engine.support import GROUP, Manager, OneProvider, manifest, ref, settings, store


class Reading:
    """A reconciler that reads a key of some stores, and is due again a period after the last slot."""

    def __init__(self, inventory: Inventory, sessions: SessionPool, clock: Clock, period: float) -> None:
        self.period = period
        self.group_kind = GroupKind(GROUP, "ExternalSecret")
        self.late: dict[str, list[float]] = {}
        self._inventory = inventory
        self._sessions = sessions
        self._clock = clock

    def reads(self, kind: GroupKind) -> bool:
        return kind == self.group_kind

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        names = stored.document["spec"]["store"].split("+")
        return [Dependency(ref(name, kind="SecretStore")) for name in names]

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        del writes
        stored = self._inventory.get(ref)
        assert stored is not None
        spec = stored.document["spec"]
        sessions = [self._sessions.session(store(name), "default") for name in spec["store"].split("+")]
        reads = await asyncio.gather(*(session.read([RemoteRef(spec["key"])]) for session in sessions))
        failed = [answer for read in reads for answer in read.values() if isinstance(answer, SyncError)]
        now = self._clock.now()
        self.late.setdefault(spec["store"], []).append(now % self.period)
        return Outcome(now - now % self.period + self.period, failed[0] if failed else None)


@asynccontextmanager
async def running(
    managers: dict[str, Manager],
    clock: Clock,
    objects: Iterable[tuple[str, str]],
    *,
    batch_size: int = 1,
    period: float = 60.0,
    **changes: Json,
) -> AsyncGenerator[Reading, None]:
    """The engine over objects that each read a key (of several stores: "a+b")."""
    home = MemoryCluster(now=clock.now)
    for number, (name, key) in enumerate(objects):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={"store": name, "key": key}))
    providers = {name: manager.provider(batch_size=batch_size) for name, manager in managers.items()}
    registry = OneProvider(next(iter(providers.values())))
    window = 0.002 if batch_size > 1 else 0.0
    knobs = settings(call_timeout=30.0, drain_timeout=0.0, batch_window=window, **changes)
    inventory = Inventory()
    queue = work_queue(clock, knobs)
    async with SessionPool(
        registry, home, knobs, clock=clock, substitute=lambda ref, provider: providers[ref.name], queue=queue
    ) as sessions:
        reading = Reading(inventory, sessions, clock, period)
        engine = Engine(home, [reading], inventory=inventory, queue=queue, settings=knobs)
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
    queue = WorkQueue(clock)
    queue.add(ref("x"))
    await queue.get()
    async with SessionPool(
        OneProvider(manager.provider()), MemoryCluster(now=clock.now), settings(), clock=clock
    ) as sessions:
        session = sessions.session(store("s"), "default")

        async def read(due: float) -> None:
            current_run.set(CurrentRun(queue, ref("x"), due))
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


@pytest.mark.parametrize("hung", [1, 8, 20])
@pytest.mark.parametrize("opening", [False, True], ids=["calls hang", "logins hang"])
async def test_no_number_of_stores_that_hang_makes_the_others_late(
    clock: Clock, hung: int, *, opening: bool
) -> None:
    managers = {f"hung{number}": Manager() for number in range(hung)} | {"well": Manager({"k": "v"})}
    managers["well"].delay = 0.05
    for number in range(hung):
        manager = managers[f"hung{number}"]
        manager.gate.clear()
        manager.open_delay = 1000 if opening else 0
    objects = [(name, f"k{number}") for name in managers for number in range(40)]
    limits = {"workers": 32, "store_workers": 16, "store_waits": 128}
    async with running(managers, clock, objects, period=2.0, **limits) as reading:
        await asyncio.sleep(119)
        assert len(reading.late["well"]) == 40 * 60
        assert max(reading.late["well"]) < 1.9


async def test_objects_that_also_read_from_a_store_that_hangs_delay_no_others(clock: Clock) -> None:
    managers = {"hung": Manager(), "well": Manager({"k": "v"})}
    managers["hung"].gate.clear()
    managers["well"].delay = 0.05
    objects = [(name, f"k{number}") for number in range(100) for name in ("well+hung", "well")]
    async with running(managers, clock, objects, period=2.0, store_workers=16) as reading:
        await asyncio.sleep(119)
        assert len(reading.late["well"]) == 100 * 60
        assert max(reading.late["well"]) < 1.9


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
