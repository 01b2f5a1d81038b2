import asyncio
import gc
from contextvars import ContextVar
from weakref import ref

import pytest

from syncret.daemon.engine.sessions.tasks import TaskOwner, within
from syncret.providers.errors import Unavailable

LATE = Unavailable("too late")


async def test_what_ends_in_time_ends_as_it_does() -> None:
    async with within(10, LATE):
        await asyncio.sleep(9)
    with pytest.raises(ZeroDivisionError):
        async with within(10, LATE):
            raise ZeroDivisionError


async def test_what_takes_longer_ends_with_the_error() -> None:
    with pytest.raises(Unavailable, match="too late") as raised:
        async with within(10, LATE):
            await asyncio.sleep(11)
    assert raised.value is LATE
    assert asyncio.get_running_loop().time() == 10


async def test_no_seconds_are_no_limit() -> None:
    async with within(0, LATE):
        await asyncio.sleep(1_000_000)


async def test_a_timeout_of_the_block_itself_is_another_matter() -> None:
    with pytest.raises(TimeoutError):
        async with within(10, LATE):
            raise TimeoutError


async def test_cancellation_is_not_taken_for_a_timeout() -> None:
    async def work() -> None:
        async with within(10, LATE):
            await asyncio.sleep(100)

    task = asyncio.create_task(work())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


class _Run:
    """What a run holds."""


async def test_a_long_task_holds_nothing_of_the_run_that_started_it() -> None:
    """Clients of three thousand stores held what their first runs had in memory."""
    variable: ContextVar[_Run] = ContextVar("variable")
    owner = TaskOwner()
    held: list[ref[_Run]] = []
    held_open: list[asyncio.Task[None]] = []

    async def run() -> None:
        one = _Run()
        held.append(ref(one))
        variable.set(one)
        held_open.append(owner.start(asyncio.sleep(1_000), name="client"))

    await asyncio.create_task(run())
    await asyncio.sleep(0)  # what woke us holds the run
    gc.collect()
    assert [each() for each in held] == [None]
    assert len(owner) == 1
    await owner.close(0)
