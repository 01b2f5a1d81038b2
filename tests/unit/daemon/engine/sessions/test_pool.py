"""Engine and sessions together: what many objects of few stores cost in provider calls and in time."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

import pytest

from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.queue.from_settings import work_queue
from syncret.daemon.engine.queue.waiting import current_run
from syncret.daemon.engine.reconciler import Dependency, Outcome
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.errors import SyncError
from syncret.providers.values import RemoteRef, SecretBytes
from tests.unit.daemon.engine.support import (
    GROUP,
    Manager,
    OneProvider,
    manifest,
    ref,
    settings,
    store,
)


class Reading:
    """A reconciler that reads a key of some stores, and is due again a period after the last slot."""

    def __init__(self, inventory: Inventory, sessions: SessionPool, clock: Clock, period: float) -> None:
        self.period = period
        self.sessions = sessions
        self.pause = 0.0
        self.values: dict[str, list[str]] = {}
        self.ages: list[float] = []
        """By how much each answer was younger than the request, where values are times."""
        self.group_kind = GroupKind(GROUP, "ExternalSecret")
        self.late: dict[str, list[float]] = {}
        self._inventory = inventory
        self._sessions = sessions
        self._clock = clock

    engine: Engine

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
        run = current_run.get()
        assert run is not None
        found = (answer for read in reads for answer in read.values() if isinstance(answer, SecretBytes))
        for value in (answer.raw.decode() for answer in found):
            self.values.setdefault(ref.name, []).append(value)
            if value.replace(".", "").isdecimal():
                self.ages.append(float(value) - run.since)
        await asyncio.sleep(self.pause)
        now = self._clock.now()
        self.late.setdefault(spec["store"], []).append(now % self.period)
        return Outcome(now - now % self.period + self.period, failed[0] if failed else None)


class Timed(Manager):
    """Its values are the times at which it read them."""

    async def call(self, token: str = "") -> None:
        now = asyncio.get_running_loop().time()
        await super().call()
        self.values = dict.fromkeys(self.values, str(now))


@asynccontextmanager
async def running(
    managers: dict[str, Manager],
    clock: Clock,
    objects: Iterable[tuple[str, str]],
    *,
    batch_size: int = 1,
    period: float = 60.0,
    pause: float = 0.0,
    **changes: Json,
) -> AsyncGenerator[Reading, None]:
    """The engine over objects that each read a key (of several stores: "a+b")."""
    home = MemoryCluster(now=clock.now)
    for number, (name, key) in enumerate(objects):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={"store": name, "key": key}))
    providers = {name: manager.provider(batch_size=batch_size) for name, manager in managers.items()}
    registry = OneProvider(next(iter(providers.values())))
    knobs = settings(call_timeout=30.0, drain_timeout=0.0, batch_window=0.002, **changes)
    inventory = Inventory()
    queue = work_queue(clock, knobs)
    async with SessionPool(
        registry, home, knobs, clock=clock, substitute=lambda ref, provider: providers[ref.name], queue=queue
    ) as sessions:
        reading = Reading(inventory, sessions, clock, period)
        engine = Engine(home, [reading], inventory=inventory, queue=queue, settings=knobs)
        reading.pause, reading.engine = pause, engine
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


async def test_a_slow_pass_reads_each_key_once(clock: Clock) -> None:
    """2,000 objects on 200 keys; 16 rounds of 128 that take two seconds each."""
    manager = Manager({f"k{number}": "v" for number in range(200)})
    manager.open_delay = manager.delay = 0.01
    objects = [("s", f"k{number % 200}") for number in range(2000)]
    async with running({"s": manager}, clock, objects, pause=2.0, period=600.0) as reading:
        await asyncio.sleep(20)
        assert len(reading.late["s"]) < 2000
        assert len(reading.sessions.answers) == 200
        await asyncio.sleep(20)
        assert len(reading.late["s"]) == 2000
        assert len(manager.fetches) == 200
        assert len(manager.opened) == 1
        assert len(reading.sessions.answers) == reading.sessions.answers.size == 0, "a session is no cache"
        await asyncio.sleep(600)
        assert len(manager.fetches) == 400


async def test_a_refresh_during_a_pass_reads_anew(clock: Clock) -> None:
    manager = Manager({"k": "old"})
    manager.open_delay = manager.delay = 0.01
    async with running({"s": manager}, clock, [("s", "k")] * 100, pause=2.0, store_workers=10) as reading:
        await asyncio.sleep(5)
        manager.values["k"] = "new"
        for number in (3, 99):  # one has been run, the other waits for its turn
            assert reading.engine.refresh(ref(f"x{number}"))
        await asyncio.sleep(40)
        assert len(manager.fetches) == 2
        assert reading.values["x3"] == ["old", "new"]
        assert reading.values["x99"] == ["new"]
        assert reading.values["x98"] == ["new"], "it was due before either of the calls, and takes the newer"
        assert reading.values["x4"] == ["old"]
        assert not len(reading.sessions.answers)


@pytest.mark.parametrize(
    ("limit", "share"),
    [
        pytest.param(0, 1.0, id="no memory"),
        pytest.param(3_000, 0.7, id="little memory"),
        pytest.param(10_000_000, 0.4, id="enough memory"),
    ],
)
async def test_no_object_gets_an_answer_older_than_its_request(
    clock: Clock, limit: int, share: float
) -> None:
    """Values are the times of their reading; objects are due by time, and some are asked for in between."""
    loop = asyncio.get_running_loop()
    keys = [f"k{number}" for number in range(20)]
    manager = Timed(dict.fromkeys(keys, ""))
    manager.delay = 0.3
    chance = random.Random(limit)  # noqa: S311  # a repeatable order
    objects = [("s", chance.choice(keys)) for _ in range(200)]
    async with running({"s": manager}, clock, objects, pause=1.0, period=20.0, store_workers=8) as reading:
        reading.sessions.answers.limit = limit
        for _ in range(300):
            await asyncio.sleep(chance.random())
            reading.engine.refresh(ref(f"x{chance.randrange(200)}"))
            assert reading.sessions.answers.size <= limit
        await asyncio.sleep(100)
    assert loop.time() > 200
    assert len(reading.ages) > 1500
    assert min(reading.ages) >= 0
    assert len(manager.fetches) < len(reading.ages) * share


async def test_one_store_that_hangs_leaves_the_other_nine_on_time(clock: Clock) -> None:
    managers = {f"s{number}": Manager({"k": "v"}) for number in range(10)}
    for manager in managers.values():
        manager.delay = 0.01
    managers["s0"].gate.clear()
    objects = [(name, f"k{number}") for name in managers for number in range(50)]
    async with running(managers, clock, objects) as reading:
        await asyncio.sleep(119)
        for name in list(managers)[1:]:
            assert len(reading.late[name]) == 50 * 2
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
        await asyncio.sleep(39)
        assert len(reading.late["well"]) == 40 * 20
        assert max(reading.late["well"]) < 1.9


async def test_objects_that_also_read_from_a_store_that_hangs_delay_no_others(clock: Clock) -> None:
    managers = {"hung": Manager(), "well": Manager({"k": "v"})}
    managers["hung"].gate.clear()
    managers["well"].delay = 0.05
    objects = [(name, f"k{number}") for number in range(100) for name in ("well+hung", "well")]
    async with running(managers, clock, objects, period=2.0, store_workers=16) as reading:
        await asyncio.sleep(39)
        assert len(reading.late["well"]) == 100 * 20
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
