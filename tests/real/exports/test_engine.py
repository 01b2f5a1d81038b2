"""Exports on a real API server: found, followed, written, repaired, pruned."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from syncret.config.meta import Document
from syncret.config.settings import Settings
from syncret.daemon.app import run_engine
from syncret.daemon.core.exports.evaluation import has_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.registry import Registry
from tests.real.exports.crds import crd, install, remove
from tests.real.kubernetes.conftest import access_of
from tests.support.servers.kube.crds import install as install_ours
from tests.support.servers.kube.running import KubeApi, kube_api
from tests.support.waiting import until

pytestmark = pytest.mark.slow


class Cluster:
    """A namespace, and a group of its own whose resources may export."""

    def __init__(self, api: KubeApi) -> None:
        self.api = api
        self.namespace = api.namespace()
        self.group = f"storage-{uuid4().hex[:8]}.example.com"
        self.crd = crd(self.group, "StorageAccount", "storageaccounts")
        self.path = ""

    def install(self) -> None:
        self.path = f"{install(self.api, self.crd)}/namespaces/{self.namespace}/storageaccounts"

    def create(self, name: str, operator_spec: Document, **spec: object) -> None:
        document = {
            "apiVersion": f"{self.group}/v1",
            "kind": "StorageAccount",
            "metadata": {"name": name},
            "spec": {**spec, "operatorSpec": operator_spec},
        }
        self.api.create(self.path, document)

    def put(self, name: str, **changes: Document) -> None:
        """Other members of a resource; a status goes where it belongs."""
        found = self.api.get(f"{self.path}/{name}")
        assert found is not None
        suffix = "/status" if "status" in changes else ""
        answer = self.api.request("PUT", f"{self.path}/{name}{suffix}", {**found, **changes})
        assert answer.status == 200

    def of(self, plural: str, name: str) -> Document | None:
        return self.api.get(f"/api/v1/namespaces/{self.namespace}/{plural}/{name}")

    def data(self, plural: str, name: str) -> Document | None:
        found = self.of(plural, name)
        return None if found is None else found.get("data", {})

    def warnings(self) -> list[str]:
        """What events of the namespace warn of."""
        events = self.api.get(f"/api/v1/namespaces/{self.namespace}/events") or Document()
        return [each["message"] for each in events.get("items", ()) if each["type"] == "Warning"]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    assert has_engine(), "install what requirements/runtime.txt has"
    api = kube_api()
    install_ours(api)
    cluster = Cluster(api)
    yield cluster
    if cluster.path:
        remove(api, cluster.crd)


@asynccontextmanager
async def running(cluster: Cluster) -> AsyncGenerator[KubernetesHome]:
    scope = Scope(cluster.namespace, exporting=(cluster.group,))
    async with (
        cluster_home(access_of(cluster.api), catalog=Registry(), scope=scope) as home,
        run_engine(home, registry=Registry(), settings=Settings(kubernetes=True), clock=Clock()) as engine,
    ):
        await engine.engine.first_pass.wait()
        events = asyncio.create_task(home.run(), name="events")
        yield home
        events.cancel()


ID: Document = {"name": "account", "key": "id", "value": "self.status.id"}
PLACE: Document = {"name": "place", "key": "at", "value": "self.spec.location"}


async def test_a_resource_through_its_life(cluster: Cluster) -> None:
    cluster.install()
    cluster.create("acct", {"dynamicConfigMaps": [ID], "dynamicSecrets": [PLACE]}, location="westeurope")
    async with running(cluster):
        await until(cluster.warnings)
        assert cluster.data("secrets", "place") is None  # one that has no value yet writes nothing
        cluster.put("acct", status={"id": "/a"})
        await until(lambda: cluster.data("configmaps", "account") == {"id": "/a"})
        await until(lambda: cluster.data("secrets", "place") == {"at": "d2VzdGV1cm9wZQ=="})
        cluster.put("acct", status={"id": "/b"})
        await until(lambda: cluster.data("configmaps", "account") == {"id": "/b"})
        secret = cluster.of("secrets", "place")
        assert secret is not None
        path = f"/api/v1/namespaces/{cluster.namespace}/secrets/place"
        cluster.api.request("PUT", path, {**secret, "data": {"other": "eA=="}})
        await until(lambda: cluster.data("secrets", "place") == {"at": "d2VzdGV1cm9wZQ=="})
        cluster.put("acct", spec={"operatorSpec": {"dynamicConfigMaps": [ID]}})
        await until(lambda: cluster.of("secrets", "place") is None)
        assert cluster.data("configmaps", "account") == {"id": "/b"}
        cluster.put("acct", spec={"operatorSpec": {}})
        await until(lambda: cluster.of("configmaps", "account") is None)


async def test_kinds_come_and_go(cluster: Cluster) -> None:
    async with running(cluster) as home:
        cluster.install()
        home.retry_unknown()
        cluster.create("acct", {"dynamicSecrets": [PLACE]}, location="here")
        await until(lambda: cluster.data("secrets", "place"))
        remove(cluster.api, cluster.crd)
        cluster.path = ""
        home.retry_unknown()
        assert not home.problems()


async def test_an_object_of_somebody_else_is_never_touched(cluster: Cluster) -> None:
    cluster.install()
    path = f"/api/v1/namespaces/{cluster.namespace}/secrets"
    cluster.api.create(path, {"metadata": {"name": "place"}, "data": {"mine": "eA=="}})
    cluster.create("acct", {"dynamicSecrets": [PLACE, {**PLACE, "name": "second"}]}, location="here")

    async with running(cluster):
        await until(lambda: cluster.data("secrets", "second") and cluster.warnings())
    assert cluster.data("secrets", "place") == {"mine": "eA=="}
    assert "the Secret place is not this resource's" in cluster.warnings()[0]
