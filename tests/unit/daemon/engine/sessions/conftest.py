"""Sessions of stores at one manager, on virtual time."""

from collections.abc import AsyncIterator

import pytest

from syncret.config.fields import Json
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Faults
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.unit.daemon.engine.sessions.support import Make
from tests.unit.daemon.engine.support import START, Manager, OneProvider, Recorder, settings


@pytest.fixture
async def manager() -> Manager:
    return Manager({"a": "1", "b": "2", "json": '{"user": "x", "pass": "y"}'})


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def home() -> MemoryCluster:
    return MemoryCluster(now=lambda: START)


@pytest.fixture
async def make(
    manager: Manager, recorder: Recorder, home: MemoryCluster, clock: Clock
) -> AsyncIterator[Make]:
    made: list[SessionPool] = []

    async def build(*, batch_size: int = 1, faults: Faults | None = None, **changes: Json) -> SessionPool:
        registry = OneProvider(manager.provider(batch_size=batch_size))
        sessions = SessionPool(
            registry, home, settings(**changes), clock=clock, observer=recorder, faults=faults
        )
        made.append(await sessions.__aenter__())
        return sessions

    yield build
    for sessions in made:
        await sessions.__aexit__(None, None, None)
