"""Tests of this folder run on virtual time, unless marked otherwise, and must leave no task behind."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module

import pytest

from syncret.config.fields import Json
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag
from tests.support.loops import Factories, loop_for
from tests.unit.daemon.engine.engines import Behaviour, Start, World, content
from tests.unit.daemon.engine.life import Life
from tests.unit.daemon.engine.support import START


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    return loop_for(item, "virtual")


HOMES: Mapping[str, Lag | None] = {"memory": None, "lagging": Lag(events=0.2, answers=0.02)}
"""What the simulated cluster of a test is to the engine: a home that tells at once, or one that lags.

It lags by less than what the tests wait for.
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that starts an engine on both homes, unless it is marked `tells_at_once`."""
    starts = not {"start", "life"}.isdisjoint(metafunc.fixturenames) or _uses_life(metafunc)
    if starts and "clock" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("tells_at_once") is not None
        homes = {name: lag for name, lag in HOMES.items() if lag is None or not only}
        metafunc.parametrize("usual_lag", homes.values(), ids=homes.keys(), indirect=True)


def _uses_life(metafunc: pytest.Metafunc) -> bool:
    module = import_module(metafunc.function.__module__)
    return hasattr(module, "Life")


@pytest.fixture(autouse=True)
def usual_lag(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lag of every home that the test starts."""
    lag = getattr(request, "param", None)
    monkeypatch.setattr(Life, "usual_lag", lag)
    monkeypatch.setattr(World, "usual_lag", lag)


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
