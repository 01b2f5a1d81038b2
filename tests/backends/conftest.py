"""The homes that the one suite tests. A new home joins by adding its factory to HOMES."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from syncret.daemon.backends.contract import Backend
from syncret.daemon.backends.memory.cluster import MemoryCluster
from tests.backends.objects import START


@asynccontextmanager
async def memory(folder: Path) -> AsyncGenerator[Backend]:
    yield MemoryCluster(now=lambda: START)


HOMES: dict[str, Callable[[Path], AbstractAsyncContextManager[Backend]]] = {"memory": memory}


@pytest.fixture(params=[pytest.param(home, id=name) for name, home in HOMES.items()])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    """An empty home of each sort."""
    async with request.param(tmp_path) as home:
        yield home


@pytest.fixture
def cluster() -> MemoryCluster:
    """What only the simulated cluster offers."""
    return MemoryCluster(now=lambda: START)
