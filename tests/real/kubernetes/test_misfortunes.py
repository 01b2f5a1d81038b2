"""What befalls a cluster as a whole: CRDs that are missing, a server that goes away, a flood of objects."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from syncret.config.resources.kinds import PUSH_SECRET
from syncret.config.schema.crds import crd
from syncret.daemon.homes.kubernetes import resources, streams
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.providers.registry import Registry
from tests.real.e2e.process import daemon
from tests.real.kubernetes.conftest import access_of
from tests.real.kubernetes.test_commands import kubeconfig_of
from tests.real.kubernetes.test_engine import Cluster
from tests.real.kubernetes.test_tenants import running
from tests.support.servers.kube.crds import CRDS, install
from tests.support.servers.kube.running import ADMIN, KubeApi
from tests.support.waiting import until

pytestmark = pytest.mark.slow

FLOOD = 3_000


@pytest.fixture
def alone() -> Generator[KubeApi]:
    """A cluster of its own, without our CRDs."""
    server = KubeApi()
    try:
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def home_of(api: KubeApi) -> AsyncGenerator[KubernetesHome]:
    async with cluster_home(access_of(api), catalog=Registry()) as home:
        yield home


def filled(api: KubeApi) -> Cluster:
    cluster = Cluster(api, api.namespace())
    cluster.store(k="one", l="two")
    cluster.sync("e")
    return cluster


async def test_crds_that_come_late_and_one_that_goes(alone: KubeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MISSING", 0.1)
    monkeypatch.setattr(resources, "KNOWN_FOR", 0.1)
    async with home_of(alone) as home, running(home) as engine:
        assert any("ExternalSecret" in each.source for each in home.problems()), "it is said"
        await asyncio.to_thread(install, alone)
        await until(lambda: not home.problems())
        cluster = filled(alone)
        await until(lambda: cluster.ready("e").get("status") == "True")

        alone.request("DELETE", f"{CRDS}/pushsecrets.external-secrets.io")
        gone = str(PUSH_SECRET.group_kind)
        await until(lambda: any(each.source == gone for each in home.problems()))
        cluster.sync("later", key="l")
        await until(lambda: cluster.ready("later").get("status") == "True")
        assert not engine.engine.failing
        await until(lambda: alone.get(f"{CRDS}/pushsecrets.external-secrets.io") is None)
        alone.create(CRDS, crd(PUSH_SECRET, Registry()))
        await until(lambda: not home.problems())


async def test_a_server_that_goes_away_is_said_and_nothing_is_lost(alone: KubeApi) -> None:
    install(alone)
    cluster = filled(alone)
    async with home_of(alone) as home, running(home) as engine:
        await until(lambda: cluster.ready("e").get("status") == "True")
        versions = (cluster.get("secrets", "e") or {})["metadata"]["resourceVersion"]
        alone.stop_server()
        await until(lambda: any(each.source == "API server" for each in home.problems()))
        await asyncio.to_thread(alone.start_server)
        cluster.sync("later", key="l")
        await until(lambda: cluster.ready("later").get("status") == "True")
        await until(lambda: not home.problems())
        await engine.engine.wait_idle()
        assert not engine.engine.failing
        assert (cluster.get("secrets", "e") or {})["metadata"]["resourceVersion"] == versions


async def test_a_flood_in_one_namespace_holds_up_no_other(alone: KubeApi, tmp_path: Path) -> None:
    """Who comes last, in another namespace, does not wait for the thousands before."""
    install(alone)
    flood, neighbour = filled(alone), filled(alone)
    path = flood.path("externalsecrets")
    await _pour(alone, flood.get("externalsecrets", "e") or {}, path)

    def made() -> int:
        found = alone.request("GET", f"{flood.path('secrets')}?limit=1").body
        return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))

    kubeconfig = kubeconfig_of(tmp_path, alone, "default")
    flags = ("--kubernetes", f"--set=kubeconfig={kubeconfig}")
    with daemon(tmp_path, None, *flags, ready=False) as process:
        process.until(made, "at work")
        neighbour.sync("late")
        process.until(lambda: neighbour.ready("late").get("status") == "True", "synced")
        assert made() < FLOOD / 2
        assert process.stop() == 0


async def _pour(api: KubeApi, like: dict[str, object], path: str) -> None:
    """Create the objects, as fast as the server takes them."""
    headers = {"Authorization": f"Bearer {ADMIN}"}
    connector = aiohttp.TCPConnector(ssl=api.trust, limit=32)
    async with aiohttp.ClientSession(api.url, connector=connector, headers=headers) as session:

        async def create(number: int) -> None:
            named = {"apiVersion": like["apiVersion"], "kind": like["kind"], "spec": like["spec"]}
            async with session.post(path, json={**named, "metadata": {"name": f"flood-{number}"}}) as answer:
                assert answer.status == 201, await answer.text()

        for start in range(0, FLOOD, 500):
            await asyncio.gather(*(create(number) for number in range(start, start + 500)))
