import asyncio

import pytest

from syncret.daemon.engine.sessions.tasks import within
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
