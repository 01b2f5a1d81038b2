"""A run that waits for a store has no worker meanwhile; a store that does not answer is noticed."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.waiting import (
    SILENT_AFTER,
    CurrentRun,
    StoreWatch,
    Workers,
    current_run,
    waiting_for,
)
from syncret.daemon.engine.queue.workqueue import WorkQueue
from tests.unit.daemon.engine.support import ref

Work = Callable[[str], Awaitable[None]]


async def run_all(queue: WorkQueue, work: Work, names: str, *, lanes: tuple[str, ...] = ("s",)) -> None:
    """Run these items as the engine would."""
    for name in names:
        queue.add(ref(name), lanes=lanes)

    async def run(name: str) -> None:
        current_run.set(CurrentRun(queue, ref(name), 0.0))
        try:
            await work(name)
        finally:
            queue.done(ref(name))

    async with asyncio.TaskGroup() as group:
        for _ in names:
            item = await queue.get()
            group.create_task(run(item.ref.name))


async def test_a_worker_is_used_by_others_while_a_run_waits(clock: Clock) -> None:
    queue = WorkQueue(clock, workers=1)
    loop = asyncio.get_running_loop()
    waited: list[int] = []

    async def work(name: str) -> None:
        async with waiting_for("s"):
            await asyncio.sleep(10)
            waited.append(queue.stats().waiting)

    await run_all(queue, work, "abcdefgh")
    assert loop.time() == 10, "all of them wait side by side"
    assert max(waited) == 8
    assert queue.stats().waiting == 0


async def test_no_more_than_the_workers_go_on_at_once(clock: Clock) -> None:
    queue = WorkQueue(clock, workers=2)
    busy: list[str] = []
    most: list[int] = []

    async def work(name: str) -> None:
        async with waiting_for("s"):
            await asyncio.sleep(1)
        busy.append(name)
        most.append(len(busy))
        await asyncio.sleep(1)
        busy.remove(name)

    await run_all(queue, work, "abcdef")
    assert max(most) == 2
    assert asyncio.get_running_loop().time() == 4


async def test_a_run_that_comes_back_goes_before_one_that_is_to_be_started(clock: Clock) -> None:
    queue = WorkQueue(clock, workers=1)
    order: list[str] = []

    async def work(name: str) -> None:
        order.append(f"{name} begins")
        if name == "a":
            async with waiting_for("s"):
                await asyncio.sleep(1)
        else:
            await asyncio.sleep(2)
        order.append(f"{name} ends")

    await run_all(queue, work, "abc")
    assert order == ["a begins", "b begins", "b ends", "a ends", "c begins", "c ends"]


async def test_a_wait_that_is_over_at_once_is_none(clock: Clock) -> None:
    queue = WorkQueue(clock, workers=1)
    order: list[str] = []

    async def work(name: str) -> None:
        async with waiting_for("s"):
            order.append(name)
        order.append(name)

    await run_all(queue, work, "ab")
    assert order == ["a", "a", "b", "b"]


async def test_parts_of_one_run_wait_side_by_side(clock: Clock) -> None:
    queue = WorkQueue(clock, workers=1)

    async def part(store: str, seconds: float) -> None:
        async with waiting_for(store):
            await asyncio.sleep(seconds)

    async def work(name: str) -> None:
        async with asyncio.TaskGroup() as group:
            for seconds, store in enumerate(("s", "s", "t"), start=1):
                group.create_task(part(store, seconds))
        await asyncio.sleep(1)

    await run_all(queue, work, "ab", lanes=("s", "t"))
    assert asyncio.get_running_loop().time() == 5, "3 for both, then 1 for each"
    queue.add(ref("c"), lanes=("s",))
    assert (await queue.get()).ref == ref("c"), "its worker is free again"


async def test_a_part_that_comes_back_while_another_begins_to_wait_takes_no_worker_with_it(
    clock: Clock,
) -> None:
    queue = WorkQueue(clock, workers=1)
    order: list[str] = []

    async def first() -> None:
        async with waiting_for("s"):
            await asyncio.sleep(1)
        order.append("first")

    async def second() -> None:
        await asyncio.sleep(2)
        async with waiting_for("s"):
            await asyncio.sleep(5)
        order.append("second")

    async def work(name: str) -> None:
        if name == "a":
            async with asyncio.TaskGroup() as group:
                group.create_task(first())
                group.create_task(second())
        else:
            await asyncio.sleep(3 if name == "b" else 1)
        order.append(name)

    await run_all(queue, work, "abc")
    assert order == ["b", "first", "c", "second", "a"]


@pytest.mark.parametrize("waits", [True, False], ids=["while it waits", "while it waits for a worker"])
async def test_a_cancelled_run_ends_at_once_and_leaves_its_worker(clock: Clock, *, waits: bool) -> None:
    queue = WorkQueue(clock, workers=1)
    for name in "ab":
        queue.add(ref(name), lanes=("s",))

    async def run(name: str, seconds: float) -> None:
        current_run.set(CurrentRun(queue, ref(name), 0.0))
        try:
            async with waiting_for("s"):
                await asyncio.sleep(seconds)
        finally:
            queue.done(ref(name))

    await queue.get()
    task = asyncio.create_task(run("a", 1000 if waits else 1))
    await queue.get()
    await asyncio.sleep(5)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    queue.done(ref("b"))
    assert queue.stats().waiting == 0
    queue.add(ref("c"))
    assert (await queue.get()).ref == ref("c")


async def test_without_a_run_it_does_nothing() -> None:
    async with waiting_for("s"):
        await asyncio.sleep(1)


async def test_a_run_that_comes_back_takes_a_free_worker_at_once() -> None:
    workers = Workers(1)
    await workers.regain()
    assert not workers.has_free


async def test_runs_that_come_back_go_before_runs_to_be_started_in_the_order_of_their_coming() -> None:
    workers = Workers(1)
    workers.take()
    order: list[str] = []

    async def come_back(name: str) -> None:
        await workers.regain()
        order.append(name)

    tasks = [asyncio.create_task(come_back(name)) for name in "ab"]
    await asyncio.sleep(0)
    workers.give_back()
    assert not workers.has_free, "it is for the first that comes back"
    await asyncio.sleep(0)
    assert order == ["a"]
    workers.give_back()
    await asyncio.wait(tasks)
    assert order == ["a", "b"]
    workers.give_back()
    assert workers.has_free


@pytest.mark.parametrize("given", [False, True], ids=["still waiting", "given a worker already"])
async def test_a_run_that_is_cancelled_on_its_way_back_loses_no_worker(*, given: bool) -> None:
    workers = Workers(1)
    workers.take()
    task = asyncio.create_task(workers.regain())
    await asyncio.sleep(0)
    if given:
        workers.give_back()
    task.cancel()
    await asyncio.wait([task])
    if not given:
        workers.give_back()
    assert task.cancelled()
    assert workers.has_free


Changes = list[tuple[float, str, str]]


@pytest.fixture
async def changes() -> Changes:
    return []


@pytest.fixture
async def watch(changes: Changes) -> StoreWatch:
    loop = asyncio.get_running_loop()
    return StoreWatch(lambda name, answering: changes.append((loop.time(), name, answering)))


async def test_a_store_is_silent_once_a_run_has_waited_a_second(watch: StoreWatch, changes: Changes) -> None:
    watch.wait_begins("s")
    await asyncio.sleep(0.5)
    watch.wait_begins("s")
    await asyncio.sleep(10)
    assert changes == [(SILENT_AFTER, "s", "no")]
    assert repr(watch) == "<StoreWatch silent=['s']>"


async def test_an_answer_makes_it_answering_at_once(watch: StoreWatch, changes: Changes) -> None:
    watch.wait_begins("s")
    await asyncio.sleep(5)
    watch.answered("s")
    assert changes[1:] == [(5, "s", "yes")]
    await asyncio.sleep(0.7)
    watch.answered("s")
    await asyncio.sleep(5)
    assert changes[2:] == [(5.7 + SILENT_AFTER, "s", "no")], "a second after the last answer, one still waits"


async def test_nothing_is_known_of_a_store_that_nothing_waits_for(
    watch: StoreWatch, changes: Changes
) -> None:
    watch.answered("s")
    watch.wait_begins("s")
    watch.answered("s")
    watch.wait_ends("s")
    await asyncio.sleep(0.9)
    assert changes == [(0, "s", "yes")], "it is known for a second, so that the next need not learn it again"
    await asyncio.sleep(5)
    assert changes == [(0, "s", "yes"), (1, "s", "unknown")]


async def test_a_silent_store_is_unknown_once_the_last_has_given_up(
    watch: StoreWatch, changes: Changes
) -> None:
    watch.wait_begins("s")
    watch.wait_begins("s")
    await asyncio.sleep(30)
    watch.wait_ends("s")
    assert len(changes) == 1
    watch.wait_ends("s")
    assert changes[1:] == [(30, "s", "unknown")]


async def test_a_wait_that_begins_late_has_its_full_second(watch: StoreWatch, changes: Changes) -> None:
    watch.wait_begins("s")
    watch.wait_ends("s")
    await asyncio.sleep(0.9)
    watch.wait_begins("s")
    await asyncio.sleep(0.5)
    assert changes == []
    await asyncio.sleep(1)
    assert changes == [(1.9, "s", "no")]
