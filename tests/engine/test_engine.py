import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.backends.contract import Change, ChangeKind, Conflict, Stored, TargetUnavailable
from syncret.daemon.backends.memory.cluster import MemoryCluster
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.contract import ANY, Outcome
from syncret.daemon.engine.engine import Engine, SourceEnded
from syncret.daemon.engine.inventory import Inventory
from syncret.providers.errors import Denied, SyncError, Throttled, Unavailable
from tests.engine.support import GROUP, START, Recorder, manifest, ref, settings

Behaviour = Callable[[ObjectRef, int], Awaitable[Outcome]]
"""What a run does, given whose it is and how many there were before."""


async def content(ref: ObjectRef, run: int) -> Outcome:
    return Outcome()


class Reconciling:
    """A reconciler that remembers its runs. An object's spec names what it depends on, and its lane."""

    def __init__(self, inventory: Inventory, behaviour: Behaviour = content) -> None:
        self.group_kind = GroupKind(GROUP, "ExternalSecret")
        self.behaviour = behaviour
        self.runs: list[tuple[str, float]] = []
        self.seen: dict[str, Any] = {}
        self.known: list[int] = []
        self.busy = 0
        self.most_busy = 0
        self._inventory = inventory
        self._running: set[ObjectRef] = set()

    def references(self, stored: Stored) -> Iterable[ObjectRef]:
        for name in stored.document.get("spec", {}).get("uses", ()):
            yield ObjectRef("", "Secret", stored.ref.namespace, name)
        if lane := stored.document.get("spec", {}).get("lane"):
            yield ObjectRef("", "Lane", "", lane)

    def lane(self, ref: ObjectRef, references: Sequence[ObjectRef]) -> str:
        return next((each.name for each in references if each.kind == "Lane"), "")

    async def reconcile(self, ref: ObjectRef) -> Outcome:
        assert ref not in self._running, "one object strictly in order"
        self._running.add(ref)
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        self.known.append(self._inventory.count(self.group_kind))
        before = sum(name == ref.name for name, _ in self.runs)
        self.runs.append((ref.name, asyncio.get_running_loop().time()))
        stored = self._inventory.get(ref)
        self.seen[ref.name] = stored.document["spec"] if stored is not None else None
        try:
            return await self.behaviour(ref, before)
        finally:
            self.busy -= 1
            self._running.discard(ref)

    def times(self, name: str) -> list[float]:
        return [time for each, time in self.runs if each == name]


class World:
    """An engine with one reconciler in a simulated cluster."""

    def __init__(self, home: MemoryCluster, clock: Clock, **changes: Json) -> None:
        self.home = home
        self.inventory = Inventory()
        self.reconciling = Reconciling(self.inventory)
        self.recorder = Recorder()
        self.changes: list[Change] = []
        self.engine = Engine(
            home,
            [self.reconciling],
            inventory=self.inventory,
            clock=clock,
            settings=settings(**changes),
            observer=self.recorder,
            listeners=[self.changes.append],
        )

    async def create(self, name: str, **spec: Json) -> Stored:
        return await self.home.create(manifest("ExternalSecret", name, spec=spec))

    async def change(self, name: str, **spec: Json) -> Stored:
        return await self.home.update(manifest("ExternalSecret", name, spec=spec))


Start = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def home(clock: Clock) -> MemoryCluster:
    return MemoryCluster(now=clock.now)


@pytest.fixture
def start(home: MemoryCluster, clock: Clock) -> Start:
    @asynccontextmanager
    async def started(behaviour: Behaviour = content, **changes: Json) -> AsyncGenerator[World, None]:
        world = World(home, clock, **changes)
        world.reconciling.behaviour = behaviour
        async with asyncio.TaskGroup() as group:
            group.create_task(world.engine.run())
            await world.engine.settled()
            yield world
            world.engine.stop()

    return started


async def test_everything_that_exists_is_looked_at_once(home: MemoryCluster, start: Start) -> None:
    for name in "abc":
        await home.create(manifest("ExternalSecret", name, spec={}))
    async with start() as world:
        assert sorted(name for name, _ in world.reconciling.runs) == ["a", "b", "c"]
        assert world.engine.first_pass.is_set()


async def test_nothing_runs_before_everything_is_known(home: MemoryCluster, start: Start) -> None:
    for number in range(50):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={}))
    async with start() as world:
        assert world.reconciling.known == [50] * 50


async def test_an_empty_home_is_ready_at_once(start: Start) -> None:
    async with start() as world:
        assert world.engine.first_pass.is_set()


async def test_a_store_that_hangs_delays_readiness_but_no_other_object(start: Start) -> None:
    async def slow(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(30)
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = slow
        await world.create("a", lane="slow")
        await asyncio.sleep(1)
        world.reconciling.behaviour = content
        await world.create("b", lane="fast")
        await asyncio.sleep(1)
        assert world.reconciling.times("b") == [1]


async def test_ten_thousand_changes_within_a_second_are_few_runs_and_the_newest_wins(start: Start) -> None:
    async def half_a_second(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(0.5)
        return Outcome()

    async with start() as world:
        await world.create("a", number=0)
        await world.engine.settled()
        world.reconciling.runs.clear()
        world.reconciling.behaviour = half_a_second
        for number in range(1, 10_001):
            await world.change("a", number=number)
            if number % 1000 == 0:
                await asyncio.sleep(0.1)
        await world.engine.settled()
        assert len(world.reconciling.runs) <= 3
        assert world.reconciling.seen["a"] == {"number": 10_000}


async def test_dependents_run_when_what_they_use_changes(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        await world.create("a", uses=["login"])
        await world.create("b", uses=["other"])
        await world.create("any", uses=[ANY])
        await world.engine.settled()
        world.reconciling.runs.clear()
        secret = await home.create(manifest("Secret", "login", group=""))
        await world.engine.settled()
        assert [name for name, _ in world.reconciling.runs] == ["a", "any"]
        await home.delete(secret.ref)
        await world.engine.settled()
        assert len(world.reconciling.runs) == 4


async def test_the_echo_of_its_own_write_does_not_wake_the_writer(home: MemoryCluster, start: Start) -> None:
    async def writing(ref: ObjectRef, run: int) -> Outcome:
        if run == 0:
            written = await home.create(manifest("Secret", "out", group=""))
            world.engine.wrote(written.ref, written.resource_version, ref)
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = writing
        await world.create("a", uses=["out"])
        await world.engine.settled()
        assert len(world.reconciling.runs) == 1
        await home.update(manifest("Secret", "out", group="", data={"k": "dg=="}))
        await world.engine.settled()
        assert len(world.reconciling.runs) == 2, "a change by someone else does"


async def test_a_new_status_wakes_dependents_only(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        created = await world.create("a")
        await world.engine.settled()
        world.reconciling.runs.clear()
        await home.report(created.ref, {"refreshTime": "now"}, uid=created.uid)
        await world.engine.settled()
        assert world.reconciling.runs == []
        assert world.inventory.get(created.ref) != created


async def test_it_runs_again_when_due_and_exactly_then(start: Start, clock: Clock) -> None:
    async def hourly(ref: ObjectRef, run: int) -> Outcome:
        return Outcome(next_due=clock.now() + 3600)

    async with start() as world:
        world.reconciling.behaviour = hourly
        await world.create("a")
        await asyncio.sleep(3 * 3600)
        await world.engine.settled()
        assert world.reconciling.times("a") == [0, 3600, 7200, 10800]
        assert world.engine.due(ref("a")) == START + 4 * 3600


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(Unavailable("x"), [0, 1, 3, 7, 15, 31, 61, 91], id="doubling up to the longest"),
        pytest.param(SyncError("x"), [0, 1, 3, 7, 15, 31, 61, 91], id="any other"),
        pytest.param(Denied("x"), [0, 30, 60, 90], id="only a change would help"),
        pytest.param(Throttled("x", retry_after=40), [0, 40, 80], id="not before the server's word"),
        pytest.param(Throttled("x", retry_after=2), [0, 2, 4, 8, 16, 32, 62, 92], id="nor before backoff"),
        pytest.param(TargetUnavailable("full"), [0, 1, 3, 7, 15, 31, 61, 91], id="the home"),
    ],
)
@pytest.mark.parametrize("how", ["raised", "returned"])
async def test_a_failure_backs_off(
    start: Start, failure: SyncError | TargetUnavailable, expected: list[float], how: str
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
        assert any("test_engine.py" in place and "in broken" in place for place in where)
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


async def test_a_deleted_object_is_cleaned_up_and_forgotten(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        await world.create("a")
        await world.engine.settled()
        await home.delete(ref("a"))
        await world.engine.settled()
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
        await world.engine.settled()
        await home.delete(ref("a"))
        await asyncio.sleep(100)
        assert len(world.reconciling.times("a")) == 5
        assert world.recorder.left == [ref("a")]


async def test_as_many_run_at_once_as_are_allowed(start: Start) -> None:
    async def slow(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(1)
        return Outcome()

    async with start(workers=6, store_workers=4) as world:
        world.reconciling.behaviour = slow
        for number in range(12):
            await world.create(f"x{number}", lane="one")
        await world.engine.settled()
        assert world.reconciling.most_busy == 4
        assert asyncio.get_running_loop().time() == 3
        for number in range(12):
            await world.create(f"y{number}", lane=str(number))
        await world.engine.settled()
        assert world.reconciling.most_busy == 6


async def test_forced_runs_at_once(start: Start) -> None:
    async with start() as world:
        await world.create("a")
        await world.engine.settled()
        assert world.engine.refresh(ref("a"))
        assert not world.engine.refresh(ref("nobody"))
        await world.engine.settled()
        assert len(world.reconciling.runs) == 2


async def test_settled_waits_for_what_follows_from_what(home: MemoryCluster, start: Start) -> None:
    async def chain(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(1)
        number = int(ref.name[1:])
        if number < 5:
            await home.create(manifest("ExternalSecret", f"x{number + 1}", spec={}))
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = chain
        await world.create("x0")
        await world.engine.settled()
        assert [name for name, _ in world.reconciling.runs] == [f"x{number}" for number in range(6)]


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


class EndingSource:
    """A home that tells of nothing, and then goes away; its own stream of changes."""

    def __init__(self) -> None:
        self._left = [Change(ChangeKind.SYNCED)]

    def watch(self) -> "EndingSource":
        return self

    def __aiter__(self) -> "EndingSource":
        return self

    async def __anext__(self) -> Change:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()

    async def aclose(self) -> None:
        self._left.clear()


async def test_a_source_that_ends_takes_the_engine_down(clock: Clock) -> None:
    engine = Engine(EndingSource(), [], inventory=Inventory(), clock=clock, settings=settings())
    with pytest.raises(ExceptionGroup) as raised:
        await engine.run()
    assert raised.group_contains(SourceEnded)


class Strict(Reconciling):
    """A reconciler whose model reads no document."""

    def references(self, stored: Stored) -> Iterable[ObjectRef]:
        return [stored.as_type(ObjectRef)]


async def test_a_document_that_no_model_reads_stops_nobody(home: MemoryCluster, clock: Clock) -> None:
    inventory = Inventory()
    strict = Strict(inventory)
    engine = Engine(home, [strict], inventory=inventory, clock=clock, settings=settings())
    await home.create(manifest("ExternalSecret", "a", spec={}))
    running = asyncio.create_task(engine.run())
    await engine.settled()
    assert [name for name, _ in strict.runs] == ["a"]
    engine.stop()
    await running
