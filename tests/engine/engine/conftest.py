"""Engines at a simulated cluster, on virtual time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from syncret.config.fields import Json
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.engine.engine.support import Behaviour, Start, World, content


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
