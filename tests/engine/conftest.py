"""Every test of this folder runs on virtual time, and must leave no task behind."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from tests.engine.life import Life
from tests.engine.support import START


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualTimeLoop}


@pytest.fixture
async def clock() -> Clock:
    return Clock(START)


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    left = {task for task in asyncio.all_tasks() - before if task is not asyncio.current_task()}
    assert not left, f"still running: {sorted(task.get_name() for task in left)}"


@pytest.fixture
async def life(clock: Clock) -> AsyncIterator[Life]:
    """A cluster with all reconcilers at work, until the end of the test."""
    async with Life(clock).running() as life:
        yield life
        assert not life.bugs
