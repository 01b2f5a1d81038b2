import asyncio

import pytest

from syncret.daemon.engine.queue.workers import Workers


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
