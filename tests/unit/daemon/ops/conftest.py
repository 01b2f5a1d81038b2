"""A real engine on a simulated cluster, seen as operators see it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.view import View
from syncret.daemon.supervisor import sources_of
from syncret.providers.registry import Registry
from tests.unit.daemon.ops.objects import Apply


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(socket=str(tmp_path / "control" / "control.sock"), listen="127.0.0.1:0")


@pytest.fixture
async def cluster() -> MemoryCluster:
    return MemoryCluster(now=Clock().now, admission=admission_by(Registry()))


@pytest.fixture
async def view(cluster: MemoryCluster, settings: Settings) -> AsyncIterator[View]:
    clock = Clock()
    metrics = Metrics(clock.now)
    running_ = run_engine(
        cluster, registry=Registry(), settings=settings, clock=clock, hooks=EngineOverrides(observer=metrics)
    )
    async with running_ as running:
        metrics.watch(sources_of(running, settings))
        yield View(running=running, metrics=metrics, clock=clock, settings=settings)


@pytest.fixture
def apply(cluster: MemoryCluster, view: View) -> Apply:
    """Apply documents, and wait until the engine has done what follows."""

    async def applied(*documents: Document) -> None:
        for document in documents:
            await cluster.apply(document)
        await view.running.engine.wait_idle()  # type: ignore[attr-defined]  # operators have no need to wait

    return applied
