"""The engine: what makes an object run, and when it is ready."""

import asyncio
from collections import Counter

import pytest

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.reconciler import ANY, Outcome
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.unit.daemon.engine.engines import Start, World, content
from tests.unit.daemon.engine.support import START, manifest, ref


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


@pytest.mark.tells_at_once(reason="turns of the loop are counted")
async def test_runs_are_started_in_many_turns_of_the_loop(home: MemoryCluster, start: Start) -> None:
    """What begins in one turn goes on in the same turns: each would be as long as all of them take."""
    turn, started = [0], Counter[int]()

    async def count_turns() -> None:
        while True:
            turn[0] += 1
            await asyncio.sleep(0)

    async def counted(ref: ObjectRef, run: int) -> Outcome:
        del ref, run
        started[turn[0]] += 1
        return Outcome()

    for number in range(500):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={}))
    counting = asyncio.create_task(count_turns())
    async with start(counted) as world:
        while started.total() < 500 or world.engine.queue.stats().running:  # noqa: ASYNC110  # turns are counted
            await asyncio.sleep(0)
        counting.cancel()
    assert max(started.values()) <= 32


@pytest.mark.tells_at_once(reason="turns of the loop are counted")
async def test_a_long_list_and_a_herd_of_dependents_leave_the_loop_its_turns(
    home: MemoryCluster, start: Start
) -> None:
    gate, turns = asyncio.Event(), [0]
    gate.set()

    async def count_turns() -> None:
        while True:
            turns[-1] += 1
            await asyncio.sleep(0)

    async def gated(ref: ObjectRef, run: int) -> Outcome:
        if run == 0 and len(turns) == 1:
            turns.append(0)  # the list is taken in
        await gate.wait()
        return Outcome()

    for number in range(1000):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={"uses": ["login"]}))
    counting = asyncio.create_task(count_turns())
    async with start(gated, workers=1) as world:
        assert turns[0] >= 20, "ten for the events, ten to make all of them ready"
        gate.clear()
        turns.append(0)
        await home.create(manifest("Secret", "login", group=""))
        while world.engine.queue.stats().ready + world.engine.queue.stats().running < 1000:  # noqa: ASYNC110  # turns are counted
            await asyncio.sleep(0)
        assert turns[-1] >= 10
        counting.cancel()
        gate.set()


async def test_it_is_idle_only_once_every_event_is_taken_in(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        for number in range(1000):
            await home.create(manifest("Secret", f"x{number}", group=""))
        await world.create("last")
        await world.engine.wait_idle()
        assert [name for name, _ in world.reconciling.runs] == ["last"]


@pytest.mark.tells_at_once(reason="a home that lags lists new kinds anyway")
async def test_a_kind_that_appears_while_others_are_listed_is_not_waited_for_in_vain(
    home: MemoryCluster, clock: Clock
) -> None:
    for number in range(150):
        await home.create(manifest("ExternalSecret", f"x{number}", spec={"uses": ["login"]}))
    world = World(home, clock)
    async with asyncio.TaskGroup() as group:
        group.create_task(world.engine.run())
        while not world.inventory.count(EXTERNAL_SECRET.group_kind):  # noqa: ASYNC110  # the first hundred of a turn
            await asyncio.sleep(0)
        await home.create(manifest("Secret", "login", group=""))
        await world.engine.wait_idle()
        assert world.engine.first_pass.is_set()
        assert len(set(world.reconciling.runs)) == 150
        world.engine.stop()


async def test_an_empty_home_is_ready_at_once(start: Start) -> None:
    async with start() as world:
        assert world.engine.first_pass.is_set()


@pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")
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


@pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")
async def test_ten_thousand_changes_within_a_second_are_few_runs_and_the_newest_wins(start: Start) -> None:
    async def half_a_second(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(0.5)
        return Outcome()

    async with start() as world:
        await world.create("a", number=0)
        await world.engine.wait_idle()
        world.reconciling.runs.clear()
        world.reconciling.behaviour = half_a_second
        for number in range(1, 10_001):
            await world.change("a", number=number)
            if number % 1000 == 0:
                await asyncio.sleep(0.1)
        await world.engine.wait_idle()
        assert len(world.reconciling.runs) <= 3
        assert world.reconciling.seen["a"] == {"number": 10_000}


async def test_dependents_run_when_what_they_use_changes(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        await world.create("a", uses=["login"])
        await world.create("b", uses=["other"])
        await world.create("any", uses=[ANY])
        await world.engine.wait_idle()
        world.reconciling.runs.clear()
        secret = await home.create(manifest("Secret", "login", group=""))
        await world.engine.wait_idle()
        assert [name for name, _ in world.reconciling.runs] == ["a", "any"]
        await home.remove(secret.ref)
        await world.engine.wait_idle()
        assert len(world.reconciling.runs) == 4


async def test_the_echo_of_its_own_write_does_not_wake_the_writer(home: MemoryCluster, start: Start) -> None:
    async def writing(ref: ObjectRef, run: int) -> Outcome:
        if run == 0:
            await world.reconciling.writes.create(manifest("Secret", "out", group=""))
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = writing
        await world.create("a", uses=["out"])
        await world.engine.wait_idle()
        assert len(world.reconciling.runs) == 1
        await home.update(manifest("Secret", "out", group="", data={"k": "dg=="}))
        await world.engine.wait_idle()
        assert len(world.reconciling.runs) == 2, "a change by someone else does"


async def test_drift_of_what_it_wrote_itself_wakes_the_writer(home: MemoryCluster, start: Start) -> None:
    async def writing(ref: ObjectRef, run: int) -> Outcome:
        if run == 0:
            written = await world.reconciling.writes.create(manifest("Secret", "out", group=""))
            home.touched(written.ref)
            await asyncio.sleep(1)  # both events come while it runs
        return Outcome()

    async with start() as world:
        world.reconciling.behaviour = writing
        await world.create("a", uses=["out"])
        await world.engine.wait_idle()
        assert len(world.reconciling.runs) == 2
        out = ref("out", kind="Secret")._replace(group="")
        home.touched(out)
        await world.engine.wait_idle()
        assert len(world.reconciling.runs) == 3


async def test_a_new_status_wakes_dependents_only(home: MemoryCluster, start: Start) -> None:
    async with start() as world:
        created = await world.create("a")
        await world.engine.wait_idle()
        world.reconciling.runs.clear()
        await home.update_status(created, {"refreshTime": "now"})
        await world.engine.wait_idle()
        assert world.reconciling.runs == []
        assert world.inventory.get(created.ref) != created


@pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")
async def test_it_runs_again_when_due_and_exactly_then(start: Start, clock: Clock) -> None:
    async def hourly(ref: ObjectRef, run: int) -> Outcome:
        return Outcome(next_due=clock.now() + 3600)

    async with start() as world:
        world.reconciling.behaviour = hourly
        await world.create("a")
        await asyncio.sleep(3 * 3600)
        await world.engine.wait_idle()
        assert world.reconciling.times("a") == [0, 3600, 7200, 10800]
        assert world.engine.due(ref("a")) == START + 4 * 3600


@pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")
async def test_as_many_run_at_once_as_are_allowed(start: Start) -> None:
    async def slow(ref: ObjectRef, run: int) -> Outcome:
        await asyncio.sleep(1)
        return Outcome()

    async with start(workers=6, store_workers=4) as world:
        world.reconciling.behaviour = slow
        for number in range(12):
            await world.create(f"x{number}", lane="one")
        await world.engine.wait_idle()
        assert world.reconciling.most_busy == 4
        assert asyncio.get_running_loop().time() == 3
        for number in range(12):
            await world.create(f"y{number}", lane=str(number))
        await world.engine.wait_idle()
        assert world.reconciling.most_busy == 6


async def test_forced_runs_at_once(start: Start) -> None:
    async with start() as world:
        await world.create("a")
        await world.engine.wait_idle()
        assert world.engine.refresh(ref("a"))
        assert not world.engine.refresh(ref("nobody"))
        await world.engine.wait_idle()
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
        await world.engine.wait_idle()
        assert [name for name, _ in world.reconciling.runs] == [f"x{number}" for number in range(6)]
