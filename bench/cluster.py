"""The engine on a simulated cluster in this process: for measures that need no files."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from syncret.config.meta import Document, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Call, NullObserver, Run
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.contract import Provider
from syncret.providers.registry import Registry

GROUP = "external-secrets.io"


class Witness(NullObserver):
    """Remembers every run and every call."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.ended: list[tuple[float, Run]] = []
        """Each with the time of its end."""
        self.calls: list[Call] = []

    def ran(self, run: Run) -> None:
        self.runs.append(run)
        self.ended.append((asyncio.get_running_loop().time(), run))

    def called(self, call: Call) -> None:
        self.calls.append(call)

    def forget(self) -> None:
        self.runs.clear()
        self.ended.clear()
        self.calls.clear()


class SlowCluster(MemoryCluster):
    """A cluster that takes so many seconds for each new object that the engine writes."""

    write_seconds = 0.0

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        if self.write_seconds:
            await asyncio.sleep(self.write_seconds)
        return await super().create(document, field_manager=field_manager)


@dataclass(frozen=True, slots=True)
class Bench:
    """A running engine, the cluster that it works on, and who watches it."""

    cluster: MemoryCluster
    running: RunningEngine
    witness: Witness


@asynccontextmanager
async def bench(
    *,
    spread: bool = True,
    substitute: Callable[[ObjectRef, Provider[Any]], Provider[Any]] | None = None,
    settings: Settings | None = None,
    manifests: Iterable[Document] = (),
    write_seconds: float = 0.0,
) -> AsyncIterator[Bench]:
    """An engine on a cluster, in the running loop's time; with a bucket that holds no call up."""
    clock, registry, witness = Clock(), Registry(), Witness()
    cluster = SlowCluster(now=clock.now, admission=admission_by(registry))
    cluster.write_seconds = write_seconds
    for manifest in manifests:
        await cluster.apply(manifest)
    hooks = EngineOverrides(observer=witness, substitute=substitute)
    settings = settings or Settings(spread=spread, requests_per_second=1e6, burst=1_000_000)
    async with run_engine(cluster, registry=registry, settings=settings, clock=clock, hooks=hooks) as running:
        yield Bench(cluster, running, witness)


def store(name: str, *keys: str) -> Document:
    """A SecretStore of the provider `fake`."""
    data = [{"key": key, "value": f"value of {key}"} for key in keys]
    return _manifest("SecretStore", name, {"provider": {"fake": {"data": data}}})


def external_secret(
    name: str, store_name: str, key: str, *, secret_key: str = "key", every: str = "1h"
) -> Document:
    """An ExternalSecret of one key."""
    return _manifest(
        "ExternalSecret",
        name,
        {
            "refreshInterval": every,
            "secretStoreRef": {"name": store_name},
            "data": [{"secretKey": secret_key, "remoteRef": {"key": key}}],
        },
    )


def _manifest(kind: str, name: str, spec: Document) -> Document:
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "spec": spec}
