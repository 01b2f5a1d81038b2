"""The homes that the one suite tests. A new home joins by adding its factory to HOMES."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from syncret.daemon.homes.contract import Home
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admit_all
from syncret.providers.registry import Registry
from tests.suites.homes.objects import START


@asynccontextmanager
async def memory(folder: Path) -> AsyncGenerator[Home]:
    yield MemoryCluster(now=lambda: START)


@asynccontextmanager
async def host(folder: Path) -> AsyncGenerator[Home]:
    with TemporaryDirectory(dir=MEMORY_DISK) as disk:
        settings = HostSettings(
            manifests=(),
            output_dir=str(folder / "secrets"),
            state_file=f"{disk}/state.db",
            output=OutputSettings(fsync=False),
        )
        async with HostHome(
            settings, catalog=Registry(), admission=admit_all, now=lambda: START, on_problems=lambda _: None
        ) as home:
            yield home


MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Thousands of durable writes, one after the other, would take long on a real disk."""

HOMES: dict[str, Callable[[Path], AbstractAsyncContextManager[Home]]] = {"memory": memory, "host": host}


@pytest.fixture(params=[pytest.param(home, id=name) for name, home in HOMES.items()])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Home]:
    """An empty home of each sort."""
    async with request.param(tmp_path) as home:
        yield home


@pytest.fixture
def cluster() -> MemoryCluster:
    """What only the simulated cluster offers."""
    return MemoryCluster(now=lambda: START)
