"""Tests of this folder run on virtual time, unless marked otherwise, and must leave no task behind."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from syncret.config.fields import Json
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.support.loops import Factories, loop_for
from tests.unit.daemon.engine.engines import Behaviour, Start, World, content
from tests.unit.daemon.engine.life import Life
from tests.unit.daemon.engine.support import START


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    return loop_for(item, "virtual")


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


@pytest.fixture
def home(clock: Clock) -> MemoryCluster:
    return MemoryCluster(now=clock.now)


@pytest.fixture
def start(home: MemoryCluster, clock: Clock) -> Start:
    """Starts an engine with one reconciler in the cluster."""

    @asynccontextmanager
    async def started(behaviour: Behaviour = content, **changes: Json) -> AsyncGenerator[World, None]:
        world = World(home, clock, **changes)
        world.reconciling.behaviour = behaviour
        async with asyncio.TaskGroup() as group:
            group.create_task(world.engine.run())
            await world.engine.wait_idle()
            yield world
            world.engine.stop()

    return started
