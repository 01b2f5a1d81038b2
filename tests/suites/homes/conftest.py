"""The homes that the one suite tests. A new home joins by adding its factory to HOMES.

A home that waits for files lives in real time; the others on virtual time, where it costs nothing to lag.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.homes.contract import Home
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from syncret.daemon.homes.memory.plugins import admit_all
from syncret.providers.registry import Registry
from tests.suites.homes.objects import START
from tests.support.loops import Factories, loop_for


@asynccontextmanager
async def memory(folder: Path) -> AsyncGenerator[Home]:
    yield MemoryCluster(now=lambda: START)


@asynccontextmanager
async def lagging(folder: Path) -> AsyncGenerator[Home]:
    yield LaggingHome(MemoryCluster(now=lambda: START), lag=Lag(), chance=Random(folder.name))  # noqa: S311


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

HOMES: dict[str, Callable[[Path], AbstractAsyncContextManager[Home]]] = {
    "memory": memory,
    "lagging": lagging,
    "host": host,
}
IN_REAL_TIME = (host,)
TELL_LATER = (lagging,)
"""Homes about which a test that is marked `tells_at_once` says nothing."""


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    if "backend" not in getattr(item, "fixturenames", ()):
        return loop_for(item, "real")
    return {**loop_for(item, "real"), **loop_for(item, "virtual")}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave each home its own clock alone, and the tests that say something about it."""
    left_out = [item for item in items if not _concerns_its_home(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _concerns_its_home(item: pytest.Item) -> bool:
    params: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    home = params.get("backend")
    if home not in HOMES.values():
        return True
    if home in TELL_LATER and item.get_closest_marker("tells_at_once") is not None:
        return False
    return (params["_asyncio_loop_factory"] is VirtualTimeLoop) != (home in IN_REAL_TIME)


@pytest.fixture(params=[pytest.param(home, id=name) for name, home in HOMES.items()])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Home]:
    """An empty home of each sort."""
    async with request.param(tmp_path) as home:
        yield home


@pytest.fixture
def cluster() -> MemoryCluster:
    """What only the simulated cluster offers."""
    return MemoryCluster(now=lambda: START)
