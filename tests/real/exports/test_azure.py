"""Resources of Azure on a real API server, with their secrets from Azure's resource manager."""

import asyncio
import time
from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.config.settings import OwnIdentity, Settings
from syncret.config.settings.groups import OwnIdentityAzure
from syncret.daemon.app import run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.registry import Registry
from tests.real.exports.crds import crd, install, remove
from tests.real.kubernetes.conftest import access_of
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.server import Azure
from tests.support.servers.azure.variables import around
from tests.support.servers.kube.crds import install as install_ours
from tests.support.servers.kube.running import KubeApi, kube_api
from tests.support.waiting import until

pytestmark = pytest.mark.slow

STORAGE, CONTAINERS = "storage.azure.com", "containerservice.azure.com"
CREDENTIAL_FROM = "serviceoperator.azure.com/credential-from"


class Cluster:
    """A namespace with resources of two of Azure's groups."""

    def __init__(self, api: KubeApi) -> None:
        self.api = api
        self.namespace = api.namespace()
        self.crds = [
            crd(STORAGE, "StorageAccount", "storageaccounts", "v1api20230101"),
            crd(CONTAINERS, "ManagedCluster", "managedclusters", "v1api20231001"),
        ]
        self.paths = {
            each["spec"]["names"]["kind"]: f"{install(api, each)}/namespaces/{self.namespace}"
            f"/{each['spec']['names']['plural']}"
            for each in self.crds
        }

    def create(self, kind: str, name: str, at: str, values: Mapping[str, str], **annotations: str) -> None:
        """A resource that exports these keys, by expressions, into a Secret of its own name."""
        entries = [{"name": name, "key": key, "value": value} for key, value in values.items()]
        path = self.paths[kind]
        group, version = path.split("/")[2:4]
        document = {
            "apiVersion": f"{group}/{version}",
            "kind": kind,
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"operatorSpec": {"secretExpressions": entries}},
        }
        self.api.create(path, document)
        found = self.api.get(f"{path}/{name}")
        assert found is not None
        answer = self.api.request("PUT", f"{path}/{name}/status", {**found, "status": {"id": at}})
        assert answer.status == 200

    def credentials(self, name: str, data: Mapping[str, str]) -> None:
        path = f"/api/v1/namespaces/{self.namespace}/secrets"
        self.api.create(path, {"metadata": {"name": name}, "stringData": dict(data)})

    def data(self, name: str) -> dict[str, str] | None:
        found = self.api.get(f"/api/v1/namespaces/{self.namespace}/secrets/{name}")
        if found is None:
            return None
        return {key: b64decode(value).decode() for key, value in found.get("data", {}).items()}

    def warnings(self) -> list[str]:
        """What events of the namespace warn of."""
        events = self.api.get(f"/api/v1/namespaces/{self.namespace}/events") or Document()
        return [each["message"] for each in events.get("items", ()) if each["type"] == "Warning"]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    api = kube_api()
    install_ours(api)
    cluster = Cluster(api)
    yield cluster
    for each in cluster.crds:
        remove(api, each)


@pytest.fixture
async def cloud(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    async with around(time.time, monkeypatch) as cloud:
        cloud.machine.own = cloud.member("daemon")
        yield cloud


@asynccontextmanager
async def running(cluster: Cluster, *own: str) -> AsyncGenerator[None]:
    """The daemon; `own`: namespaces that may use its own identity."""
    scope = Scope(cluster.namespace, exporting=(STORAGE, CONTAINERS))
    settings = Settings(
        kubernetes=True, own_identity=OwnIdentity(azure=OwnIdentityAzure(export_namespaces=own))
    )
    async with (
        cluster_home(access_of(cluster.api), catalog=Registry(), scope=scope) as home,
        run_engine(home, registry=Registry(), settings=settings, clock=Clock()) as engine,
    ):
        await engine.engine.first_pass.wait()
        events = asyncio.create_task(home.run(), name="events")
        yield
        events.cancel()


async def test_secrets_are_read_as_the_namespace_says_and_only_those_that_are_used(
    cluster: Cluster, cloud: Azure
) -> None:
    member = cloud.member("team", secret="s3cret-4f1c")
    login = {
        "AZURE_TENANT_ID": TENANT,
        "AZURE_CLIENT_ID": member.client_id,
        "AZURE_CLIENT_SECRET": "s3cret-4f1c",
        "AZURE_SUBSCRIPTION_ID": "s",
    }
    cluster.credentials("aso-credential", login)
    accounts = [cloud.management.add(f"Microsoft.Storage/storageAccounts/a{n}") for n in range(3)]
    clusters = [cloud.management.add(f"Microsoft.ContainerService/managedClusters/c{n}") for n in range(3)]
    cluster.create("StorageAccount", "none", accounts[0], {"id": "self.status.id"})
    cluster.create("StorageAccount", "one", accounts[1], {"key": "secret.key1"})
    cluster.create("StorageAccount", "both", accounts[2], {"a": "secret.key1", "b": "secret.key2"})
    admin, user = {"admin": "secret.adminCredentials"}, {"user": "secret.userCredentials"}
    cluster.create("ManagedCluster", "admin", clusters[0], admin)
    cluster.create("ManagedCluster", "user", clusters[1], user)
    cluster.create("ManagedCluster", "admin-and-user", clusters[2], admin | user)
    secret = cloud.management.secret
    expected = {
        "none": {"id": accounts[0]},
        "one": {"key": secret(accounts[1], "key1")},
        "both": {"a": secret(accounts[2], "key1"), "b": secret(accounts[2], "key2")},
        "admin": {"admin": secret(clusters[0], "clusterAdmin")},
        "user": {"user": secret(clusters[1], "clusterUser")},
        "admin-and-user": {
            "admin": secret(clusters[2], "clusterAdmin"),
            "user": secret(clusters[2], "clusterUser"),
        },
    }

    async with running(cluster):
        await until(lambda: {name: cluster.data(name) for name in expected} == expected)
    assert sorted(set(cloud.management.calls)) == [
        "listClusterAdminCredential c0",
        "listClusterAdminCredential c2",
        "listClusterUserCredential c1",
        "listClusterUserCredential c2",
        "listKeys a1",
        "listKeys a2",
    ]
    assert cloud.directory.logins == [member.client_id]
    assert cluster.warnings() == []


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        pytest.param(
            {}, "must not use an access token of the daemon's own identity", id="the-daemons-identity"
        ),
        pytest.param(
            {CREDENTIAL_FROM: "other/aso-credential"},
            "a Secret must be in the resource's own namespace",
            id="another-namespaces-secret",
        ),
        pytest.param({CREDENTIAL_FROM: "mine"}, "there is no Secret mine", id="a-secret-that-is-missing"),
    ],
)
async def test_another_identity_is_refused_before_any_login(
    cluster: Cluster, cloud: Azure, annotations: dict[str, str], message: str
) -> None:
    at = cloud.management.add("Microsoft.Storage/storageAccounts/a")
    cluster.create("StorageAccount", "theirs", at, {"key": "secret.key1"}, **annotations)
    async with running(cluster, "platform"):
        await until(lambda: any(message in each for each in cluster.warnings()))
    assert cluster.data("theirs") is None
    assert (cloud.directory.requests, cloud.machine.asked, cloud.management.calls) == ([], [], [])


async def test_a_namespace_that_is_listed_uses_the_daemons_identity(cluster: Cluster, cloud: Azure) -> None:
    at = cloud.management.add("Microsoft.Storage/storageAccounts/a")
    cluster.create("StorageAccount", "ours", at, {"key": "secret.key1"})
    async with running(cluster, cluster.namespace):
        await until(lambda: cluster.data("ours"))
    assert cloud.machine.own is not None
    assert set(cloud.management.clients) == {cloud.machine.own.client_id}
