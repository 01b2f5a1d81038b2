"""Beside somebody who renews the operator's Lease nothing is written; once that is over, everything is."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final
from uuid import UUID

import pytest

from syncret.config.meta import member
from syncret.config.settings import ESO_LEASE, Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.held_writes import HeldRecord
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.other_operator import foreign
from syncret.daemon.homes.kubernetes.other_operator.interlock import writing_of
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.registry import Registry
from tests.real.kubernetes.conftest import access_of
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import KubeApi
from tests.support.waiting import until

pytestmark = pytest.mark.slow

THEIRS: Final = f"external-secrets-0_{UUID(int=7)}"
LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"


@asynccontextmanager
async def working(
    api: KubeApi, namespace: str, settings: Settings
) -> AsyncGenerator[tuple[ClusterStats, HeldRecord]]:
    """A daemon of these settings in one namespace, as the pod `syncret-0`."""
    stats, registry = ClusterStats(), Registry()
    held = HeldRecord(lambda: bool(stats.foreign_writers()))
    environment = {"POD_NAME": "syncret-0", "POD_NAMESPACE": namespace}
    async with cluster_home(
        access_of(api),
        catalog=registry,
        scope=Scope(namespace),
        writing=writing_of(settings, environment),
        stats=stats,
    ) as home:
        follows = asyncio.create_task(home.run())
        async with run_engine(
            home, registry=registry, settings=settings, clock=Clock(), hooks=EngineOverrides(held=held)
        ) as engine:
            await engine.engine.synced.wait()
            yield stats, held
        follows.cancel()
        await asyncio.gather(follows, return_exceptions=True)


@asynccontextmanager
async def renewing(api: KubeApi, namespace: str) -> AsyncGenerator[None]:
    """Somebody holds the Lease, and renews it."""
    path = LEASES.format(namespace)
    spec = {"holderIdentity": THEIRS, "leaseDurationSeconds": 1}
    api.create(path, {"metadata": {"name": ESO_LEASE}, "spec": spec})

    async def renew() -> None:
        for number in range(1000):
            change = {"spec": {"leaseTransitions": number}}
            await asyncio.to_thread(api.request, "PATCH", f"{path}/{ESO_LEASE}", change)
            await asyncio.sleep(0.2)

    task = asyncio.create_task(renew())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def holder(api: KubeApi, namespace: str) -> str:
    found = api.get(f"{LEASES.format(namespace)}/{ESO_LEASE}") or {}
    return str(member(found, "spec").get("holderIdentity") or "")


async def test_nothing_is_written_until_the_other_is_gone(
    api: KubeApi, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "AFTER_LEASE", 2.0)
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    cluster.sync("e")
    async with AsyncExitStack() as stack:
        async with renewing(api, namespace):
            stats, held = await stack.enter_async_context(working(api, namespace, Settings(kubernetes=True)))
            await until(lambda: "renewed by another operator" in str(stats.foreign_writers()))
            assert any(THEIRS in each for each in stats.not_ready(asyncio.get_running_loop().time()))
            await until(lambda: any(ref.name == "s" for ref in held.all()))
            assert cluster.get("secrets", "e") is None
            assert not cluster.ready("e")
            events = f"/api/v1/namespaces/{namespace}/events"
            await until(lambda: "OtherOperator" in json.dumps(api.get(events)))
        await until(lambda: cluster.ready("e").get("status") == "True")
        assert not stats.foreign_writers()
        assert not held.all()
        await until(lambda: holder(api, namespace).startswith("syncret-0_"))
    assert holder(api, namespace) == "", "it was given back"


async def test_a_status_that_the_operator_writes_stops_the_daemon(api: KubeApi, namespace: str) -> None:
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    cluster.sync("e")
    path = f"{cluster.path('externalsecrets', 'e')}/status?fieldManager=external-secrets"
    async with working(api, namespace, Settings(kubernetes=True)) as (stats, _):
        await until(lambda: cluster.ready("e").get("status") == "True")
        assert not stats.foreign_writers()
        api.request("PATCH", path, {"status": {"refreshTime": "2026-01-01T00:00:00Z"}})
        await until(lambda: "written by another operator" in str(stats.foreign_writers()))
        cluster.sync("late")
        await asyncio.sleep(0.2)
        assert cluster.get("secrets", "late") is None
    async with working(api, namespace, Settings(kubernetes=True)) as (stats, _):
        await until(lambda: cluster.ready("late").get("status") == "True")
        assert not stats.foreign_writers(), "of before the list"
