"""What is told of exports: by events, metrics, `explain`, and on request of an operator."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.exports import opening
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.ops.control import explanation
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.operator_requests import UnknownObject, find, ref_of, refresh
from syncret.daemon.ops.view import View
from syncret.daemon.simulate.secret_apis import SimulatedSecretApis
from syncret.providers.registry import Registry
from tests.unit.daemon.engine.exports.test_reconciler import ACCOUNT, HereThreads, entry, resource

REF: Final = ObjectRef("storage.example.com", "StorageAccount", "shop", "acct")


class Told:
    """Records events, and counts calls."""

    def __init__(self) -> None:
        self.events: list[tuple[bool, str, str]] = []
        self.calls = 0

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        assert ref == REF
        self.events.append((warning, reason, message))

    def call(self) -> None:
        self.calls += 1


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "WorkThreads", HereThreads)


@asynccontextmanager
async def running(document: Document, told: Told, metrics: Metrics) -> AsyncGenerator[RunningEngine]:
    cluster = MemoryCluster(now=time.time)
    await cluster.apply(document)
    apis = SimulatedSecretApis(ACCOUNT, told.call, lambda _: None)
    hooks = EngineOverrides(observer=metrics, events=told, secret_apis=lambda _: apis)
    async with run_engine(
        cluster, registry=Registry(), settings=Settings(), clock=Clock(), hooks=hooks
    ) as engine:
        await engine.engine.wait_idle()
        yield engine


def view_of(engine: RunningEngine, metrics: Metrics) -> View:
    return View(running=engine, metrics=metrics, clock=Clock(), settings=Settings(), registry=Registry())


async def scraped(metrics: Metrics) -> str:
    return b"".join([piece async for piece in metrics.pieces()]).decode()


async def test_what_is_exported() -> None:
    told, metrics = Told(), Metrics(time.time)
    async with running(resource(dynamicSecrets=[entry("secret.key1")]), told, metrics) as engine:
        found = explanation(view_of(engine, metrics), "StorageAccount.storage.example.com", "shop", "acct")
        stored = find(engine.inventory, ref_of("StorageAccount.storage.example.com", "shop", "acct"), {})
        refresh(engine, stored)
        await engine.engine.wait_idle()
    assert (found.ready, found.last_error) == ("True", None)
    assert found.notes == ("uses the secrets key1", "called for them: scenario")
    assert found.next.why == "to read its secrets again"
    assert told.events == [(False, "Exported", "created Secret out")]
    assert told.calls == 2
    text = await scraped(metrics)
    assert 'syncret_exports_total{kind="StorageAccount"} 2\n' in text
    assert 'syncret_export_secret_calls_total{kind="StorageAccount",api="scenario"} 2\n' in text


async def test_what_is_refused() -> None:
    told, metrics = Told(), Metrics(time.time)
    broken = entry("secret.key1 + self.status.nothing")
    async with running(resource(dynamicSecrets=[broken]), told, metrics) as engine:
        found = explanation(view_of(engine, metrics), "StorageAccount.storage.example.com", "shop", "acct")
    assert found.ready == "False"
    assert found.last_error is not None
    assert found.last_error.message.startswith(
        "operatorSpec.dynamicSecrets[0].value: there is no key nothing"
    )
    ((warning, reason, message),) = told.events
    assert (warning, reason) == (True, "AdditionalKubernetesObjWriteFailure")
    assert "hunter2" not in f"{message}{found}"
    refused = 'syncret_exports_refused_total{kind="StorageAccount",class="missing_key"} 1\n'
    assert refused in await scraped(metrics)


async def test_a_resource_that_is_not_there() -> None:
    metrics = Metrics(time.time)
    async with running(resource(), Told(), metrics) as engine:
        found = explanation(view_of(engine, metrics), "StorageAccount.storage.example.com", "shop", "acct")
        with pytest.raises(UnknownObject):
            explanation(view_of(engine, metrics), "Redis.cache.example.com", "shop", "acct")
        await asyncio.sleep(0)
    assert (found.ready, found.message) == ("Unknown", "it exports nothing")
