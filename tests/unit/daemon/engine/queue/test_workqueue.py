import asyncio
import itertools
import random
import tracemalloc
from collections import Counter
from math import inf

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.delay_queue import POP_AT_ONCE
from syncret.daemon.engine.queue.workqueue import KindStats, QueueClosed, WorkQueue
from tests.unit.daemon.engine.support import START, ref


@pytest.fixture
async def queue(clock: Clock) -> WorkQueue:
    return WorkQueue(clock, lane_cap=4)


async def drain(queue: WorkQueue) -> list[str]:
    """The names of all that is ready, run one after the other."""
    names: list[str] = []
    while queue.stats().ready:
        item = await queue.get()
        names.append(item.ref.name)
        queue.done(item.ref)
    return names


async def test_ten_events_are_one_run(queue: WorkQueue) -> None:
    for _ in range(10):
        queue.add(ref("a"))
    assert await drain(queue) == ["a"]


async def test_a_change_during_a_run_causes_exactly_one_more(queue: WorkQueue) -> None:
    queue.add(ref("a"))
    item = await queue.get()
    for _ in range(5):
        queue.add(ref("a"), urgent=True)
    assert queue.stats().ready == 0, "one object never runs twice at once"
    queue.done(item.ref)
    assert await drain(queue) == ["a"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param([60, 30], 30, id="an earlier one moves it ahead"),
        pytest.param([30, 60], 30, id="a later one does not delay it"),
        pytest.param([30, 30, 30], 30, id="equal ones are one"),
        pytest.param([90, 30, 60, 45], 30, id="the earliest of many"),
    ],
)
async def test_the_earliest_due_time_wins(queue: WorkQueue, asked: list[int], expected: int) -> None:
    for seconds in asked:
        queue.add_at(ref("a"), START + seconds)
    assert queue.due(ref("a")) == START + expected
    item = await queue.get()
    assert asyncio.get_running_loop().time() == expected
    queue.done(item.ref)
    await asyncio.sleep(1000)
    assert queue.stats().ready == 0


async def test_a_run_answers_for_the_times_asked_before_it(queue: WorkQueue) -> None:
    queue.add_at(ref("a"), START + 60)
    queue.add(ref("a"))
    assert await drain(queue) == ["a"]
    assert queue.due(ref("a")) is None


async def test_what_is_ready_or_running_is_due_now(queue: WorkQueue) -> None:
    queue.add_at(ref("a"), START + 60)
    await asyncio.sleep(60)
    queue.add(ref("b"))
    await asyncio.sleep(5)
    assert queue.due(ref("a")) == queue.due(ref("b")) == START + 65, "they wait for a worker"
    item = await queue.get()
    assert queue.due(item.ref) == START + 65
    queue.done(item.ref)
    assert queue.due(item.ref) is None


async def test_a_time_asked_during_the_run_counts(queue: WorkQueue) -> None:
    queue.add(ref("a"))
    item = await queue.get()
    queue.add_at(ref("a"), START + 60)
    queue.done(item.ref)
    assert (await queue.get()).ref == ref("a")
    assert asyncio.get_running_loop().time() == 60


async def test_a_timer_that_fires_during_the_run_causes_one_more(queue: WorkQueue) -> None:
    queue.add(ref("a"))
    item = await queue.get()
    queue.add_at(ref("a"), START + 5)
    await asyncio.sleep(10)
    queue.done(item.ref)
    again = await queue.get()
    assert again.waited == 5


async def test_equal_times_come_in_the_order_of_names(queue: WorkQueue) -> None:
    for name in "dbca":
        queue.add_at(ref(name), START + 1)
    await asyncio.sleep(2)
    assert await drain(queue) == ["a", "b", "c", "d"]


async def test_urgent_passes_ahead_of_periodic(queue: WorkQueue) -> None:
    queue.add(ref("old"), lanes=("x",))
    queue.add(ref("older"), lanes=("y",))
    queue.add(ref("new"), urgent=True, lanes=("z",))
    assert await drain(queue) == ["new", "old", "older"]


async def test_what_waits_can_become_urgent(queue: WorkQueue) -> None:
    for name in "abc":
        queue.add(ref(name))
    queue.add(ref("c"), urgent=True)
    queue.add(ref("c"))
    assert await drain(queue) == ["c", "a", "b"]


async def test_a_flood_of_changes_does_not_stop_the_periodic(queue: WorkQueue) -> None:
    queue.add(ref("periodic"))
    for number in range(1000):
        queue.add(ref(f"new-{number}"), urgent=True)
    assert (await drain(queue)).index("periodic") < 20


async def test_lanes_take_turns(queue: WorkQueue) -> None:
    for number in range(100):
        queue.add(ref(f"big-{number}"), lanes=("big",))
    queue.add(ref("small"), lanes=("small",))
    assert (await drain(queue)).index("small") == 1


async def test_a_lane_that_hangs_takes_no_more_than_its_cap(queue: WorkQueue) -> None:
    for number in range(10):
        queue.add(ref(f"hung-{number}"), lanes=("hung",))
    taken = [(await queue.get()).ref.name for _ in range(4)]
    assert taken == ["hung-0", "hung-1", "hung-2", "hung-3"]
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(1)
    assert not waiting.done()
    queue.add(ref("other"), lanes=("other",))
    assert (await waiting).ref.name == "other"
    queue.done(ref("hung-2"))
    assert (await queue.get()).ref.name == "hung-4"


async def test_an_urgent_one_of_a_full_lane_is_next_there(queue: WorkQueue) -> None:
    for number in range(6):
        queue.add(ref(f"a-{number}"), lanes=("a",))
    for _ in range(4):
        await queue.get()
    queue.add(ref("a-5"), urgent=True, lanes=("a",))
    queue.done(ref("a-0"))
    assert (await queue.get()).ref.name == "a-5"


async def test_an_object_can_change_lanes(queue: WorkQueue) -> None:
    queue.add(ref("a"), lanes=("old",))
    queue.add(ref("a"), lanes=("new",))
    assert (await queue.get()).lane == "new"


async def test_getters_are_served_in_order_and_cancellation_loses_nothing(queue: WorkQueue) -> None:
    getters = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.add(ref("a"))
    getters[0].cancel()
    await asyncio.sleep(0)
    assert (await getters[1]).ref == ref("a")
    queue.add(ref("b"))
    assert (await getters[2]).ref == ref("b")
    await asyncio.wait(getters)


async def test_closing_tells_those_who_wait(queue: WorkQueue) -> None:
    getters = [asyncio.create_task(queue.get()) for _ in range(3)]
    queue.add_at(ref("a"), START + 1)
    await asyncio.sleep(0)
    queue.close()
    for getter in getters:
        with pytest.raises(QueueClosed):
            await getter


async def test_a_jump_ahead_makes_due_what_is_due_now() -> None:
    loop = asyncio.get_running_loop()
    offset = START
    clock = Clock(wall=lambda: offset + loop.time())
    queue = WorkQueue(clock)
    queue.add_at(ref("a"), START + 3600)
    offset += 3600
    clock.anchor()
    assert (await queue.get()).ref == ref("a")
    assert loop.time() < 1


@pytest.mark.parametrize("seconds", [3600, -3600])
async def test_a_jump_changes_not_since_when_items_are_due(seconds: float) -> None:
    """Or an answer that was read before an object was due could count as read after that."""
    loop = asyncio.get_running_loop()
    offset = START
    clock = Clock(wall=lambda: offset + loop.time())
    queue = WorkQueue(clock)
    queue.add_at(ref("due before"), START + 10)
    queue.add_at(ref("due by the jump"), START + 1000)
    await asyncio.sleep(20)
    offset += seconds
    clock.anchor()
    await asyncio.sleep(10)
    before = await queue.get()
    assert (before.ref.name, before.since, before.waited) == ("due before", 10, 20)
    by_the_jump = await queue.get()
    assert (by_the_jump.since, by_the_jump.waited) == ((20, 10) if seconds > 0 else (4600, 0))


async def test_a_jump_back_does_not_run_early() -> None:
    loop = asyncio.get_running_loop()
    offset = START
    clock = Clock(wall=lambda: offset + loop.time())
    queue = WorkQueue(clock)
    queue.add_at(ref("a"), START + 60)
    offset -= 3600
    clock.anchor()
    await queue.get()
    assert loop.time() == 3660


async def test_items_that_are_due_or_run_are_requests_of_their_stores(queue: WorkQueue) -> None:
    heard: list[object] = []
    queue.on_progress(heard.append)

    def oldest(store: str) -> int:
        """The second at which the oldest item became due."""
        return next(second for second in range(100) if queue.has_request_before(store, second + 0.5))

    for seconds, name in enumerate("abc", start=1):
        queue.add_at(ref(name), START + seconds, lanes=("s", "t"))
    assert not queue.has_request_before("s", inf)
    await asyncio.sleep(10)
    assert oldest("s") == 1
    first = await queue.get()
    assert (oldest("s"), oldest("t")) == (1, 1)
    assert heard == []
    queue.done(first.ref)
    assert oldest("s") == 2
    assert heard == [("s", "t")]
    queue.add(ref("b"), urgent=True, lanes=("u",))
    assert (oldest("s"), oldest("u")) == (3, 2)
    assert heard[1:] == [("s", "t")]
    for _ in range(2):
        queue.done((await queue.get()).ref)
    assert not queue.has_request_before("s", inf)


async def test_what_is_due_but_not_ready_yet_is_a_request_too(clock: Clock) -> None:
    queue = WorkQueue(clock)
    heard: list[object] = []
    queue.on_progress(heard.append)
    for number in range(POP_AT_ONCE + 1):
        queue.add_at(ref(f"x{number:04}"), START - 1 + number / 1e6, lanes=("s",))
    queue.add_at(ref("later"), START + 1000, lanes=("t",))
    first = await queue.get()
    queue.done(first.ref)
    assert queue.stats().scheduled == 2
    assert queue.has_request_before("t", 0)
    await asyncio.sleep(0.1)
    assert not queue.has_request_before("t", inf)
    assert heard == [("s",), None]


async def test_statistics(queue: WorkQueue) -> None:
    queue.add(ref("a"))
    queue.add(ref("b"), urgent=True)
    queue.add_at(ref("c"), START + 100)
    await asyncio.sleep(7)
    running = await queue.get()
    await asyncio.sleep(3)
    stats = queue.stats()
    assert (stats.ready, stats.urgent, stats.scheduled, stats.running) == (1, 0, 1, 1)
    assert (stats.oldest, stats.longest, stats.waited, stats.runs) == (10, 3, 7, 1)
    assert running.waited == 7
    assert repr(queue) == "<WorkQueue ready=1 scheduled=1 running=1 oldest=10.0s>"


async def test_statistics_of_one_kind(queue: WorkQueue) -> None:
    for name in "abc":
        queue.add(ref(name), lanes=("s",))
    queue.add(ref("a"), urgent=True, lanes=("s",))
    first, second = await queue.get(), await queue.get()
    await asyncio.sleep(2)
    third = await queue.get()
    queue.suspend(first.ref, "s")
    await asyncio.sleep(1)
    queue.add(second.ref, lanes=("s",))
    queue.add(second.ref, lanes=("s",))
    kind = first.ref.kind
    stats = queue.stats_of([kind, "SecretStore"])
    assert stats[kind] == KindStats(urgent=0, periodic=0, added=4, working=2, seconds=7, longest=3)
    assert stats["SecretStore"] == KindStats(0, 0, 0, 0, 0, 0)
    queue.done(second.ref)
    queue.done(third.ref)
    queue.add(third.ref, urgent=True, lanes=("s",))
    assert queue.stats_of([kind])[kind] == KindStats(1, 1, 5, 0, 3, 3)


async def test_a_run_that_takes_long_is_told(queue: WorkQueue) -> None:
    queue.add(ref("a"), lanes=("s",))
    await queue.get()
    await asyncio.sleep(4)
    assert queue.running_for(ref("a")) is None, "most runs take so long at times"
    await asyncio.sleep(3)
    assert (queue.running_for(ref("a")), queue.running_for(ref("b"))) == (7, None)
    queue.done(ref("a"))
    assert queue.running_for(ref("a")) is None


async def test_what_waits_for_an_answer_is_overdue_and_its_store_unanswered(queue: WorkQueue) -> None:
    queue.add(ref("a"), lanes=("s",))
    await queue.get()
    await asyncio.sleep(2)
    assert queue.stats().oldest == 2, "due until its run is over"
    queue.suspend(ref("a"), "s")
    await asyncio.sleep(0.5)
    assert queue.unanswered("s") is None
    await asyncio.sleep(30)
    assert (queue.stats().oldest, queue.unanswered("s"), queue.unanswered("t")) == (32.5, 30.5, None)
    queue.answered("s")
    assert queue.unanswered("s") is None
    await queue.resume(ref("a"), "s")
    queue.done(ref("a"))
    assert queue.stats().oldest == 0


async def test_quiet_waits_for_ready_and_running_but_not_for_timers(queue: WorkQueue) -> None:
    queue.add(ref("a"))
    queue.add_at(ref("b"), START + 3600)
    quiet = asyncio.create_task(queue.quiet())
    item = await queue.get()
    await asyncio.sleep(10)
    assert not quiet.done()
    queue.done(item.ref)
    await quiet
    assert asyncio.get_running_loop().time() == 10


async def test_moved_timers_do_not_pile_up(queue: WorkQueue) -> None:
    tracemalloc.start()
    try:
        for seconds in range(20_000, 0, -1):
            queue.add_at(ref("a"), START + seconds)
            if seconds % 100 == 0:
                await asyncio.sleep(0)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 100_000


async def test_a_timer_takes_at_most_two_hundred_bytes(clock: Clock) -> None:
    refs = [ref(f"object-{number}") for number in range(20_000)]
    queue = WorkQueue(clock)
    tracemalloc.start()
    try:
        for number, each in enumerate(refs):
            queue.add_at(each, START + 1 + number % 997)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used <= 200 * len(refs)
    late: list[float] = []
    for _ in refs:
        item = await queue.get()
        late.append(item.waited)
        queue.done(item.ref)
    assert max(late) == 0


@pytest.mark.parametrize("seed", range(10))
async def test_nothing_asked_is_lost_whatever_the_order(clock: Clock, seed: int) -> None:
    """After any mix of calls every name has run since it was last asked for, and never twice at once."""
    chance = random.Random(seed)  # noqa: S311  # a repeatable mix, not a secret
    queue = WorkQueue(clock, lane_cap=2)
    names: list[ObjectRef] = [ref(name) for name in "abcdef"]
    running: Counter[ObjectRef] = Counter()
    owed: dict[ObjectRef, int] = {}
    seen: dict[ObjectRef, int] = {}
    ticks = itertools.count()

    async def work() -> None:
        while True:
            item = await queue.get()
            running[item.ref] += 1
            assert running[item.ref] == 1
            seen[item.ref] = next(ticks)
            await asyncio.sleep(chance.choice([0, 0, 1, 3]))
            running[item.ref] -= 1
            queue.done(item.ref)

    workers = [asyncio.create_task(work()) for _ in range(4)]
    for _ in range(300):
        each = chance.choice(names)
        owed[each] = next(ticks)
        if chance.random() < 0.5:
            queue.add(each, urgent=chance.random() < 0.5, lanes=(chance.choice("xy"),))
        else:
            queue.add_at(each, clock.now() + chance.choice([0, 1, 5]), lanes=(chance.choice("xy"),))
        await asyncio.sleep(chance.choice([0, 0, 0, 1, 2]))
    await asyncio.sleep(1000)
    for worker in workers:
        worker.cancel()
    await asyncio.wait(workers)
    assert all(seen[each] > owed[each] for each in owed)
