"""A run that waits for a store has no worker, and takes one again before it goes on."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.current_run import CurrentRun, current_run, waiting_for
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
