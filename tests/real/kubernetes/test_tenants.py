"""Hostile and unlucky tenants on a real API server: never a loop of writes, nor a stop that nobody sees.

Each test has a neighbour in the same daemon, which must be served whatever the other one does.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from msgspec.structs import replace

from syncret.config.fields import Model
from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import Substitute
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.contract import Client, OpenContext, Provider
from syncret.providers.registry import Registry
from syncret.providers.values import RemoteKey
from tests.real.kubernetes.conftest import access_of
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import KubeApi
from tests.support.waiting import until

pytestmark = pytest.mark.slow

GROUP: Final = "external-secrets.io"
RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
READ: Final = ("get", "list", "watch")
Rules = Sequence[Mapping[str, Sequence[str]]]
HURRIED: Final = Settings(kubernetes=True, retry_min=0.1, retry_max=0.4)
"""Retries come as fast as never in production, so that a loop shows within a second."""


def rule(group: str, *resources: str, verbs: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


RIGHTS: Final = {
    "watch our kinds": rule(GROUP, "externalsecrets", "pushsecrets", "secretstores", verbs=READ),
    "patch our kinds": rule(GROUP, "externalsecrets", "pushsecrets", "secretstores", verbs=["patch"]),
    "patch their status": rule(GROUP, "externalsecrets/status", "secretstores/status", verbs=["patch"]),
    "own": rule(GROUP, "externalsecrets/finalizers", verbs=["update"]),
    "watch generators": rule(f"generators.{GROUP}", "*", verbs=READ),
    "read secrets": rule("", "secrets", verbs=READ),
    "create secrets": rule("", "secrets", verbs=["create"]),
    "update secrets": rule("", "secrets", verbs=["update", "patch"]),
    "delete secrets": rule("", "secrets", verbs=["delete"]),
    "watch others": rule("", "configmaps", "serviceaccounts", verbs=READ),
    "tell": rule("", "events", verbs=["create", "patch"]),
}


class Worker:
    """A daemon's account in one namespace, whose rights can be taken away."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self.account = api.account(namespace, *RIGHTS.values())
        self.token = api.token(namespace, self.account)

    def lose(self, *names: str) -> None:
        """Take rights away."""
        self._have([each for name, each in RIGHTS.items() if name not in names])

    def regain(self) -> None:
        """Give them back."""
        self._have(list(RIGHTS.values()))

    def _have(self, rules: Rules) -> None:
        path = f"{RBAC}/namespaces/{self.namespace}/roles/{self.account}"
        assert self.api.request("PATCH", path, {"rules": rules}).status == 200

    def writes(self) -> Counter[tuple[str, str, int]]:
        """The writes so far: verb, resource with name, status."""
        asked = self.api.audited(self.namespace, self.account)
        return Counter(
            (each.verb, f"{each.resource}/{each.name}", each.status)
            for each in asked
            if each.verb not in {*READ, ""} and each.resource != "events"
        )

    @asynccontextmanager
    async def home(self) -> AsyncGenerator[KubernetesHome]:
        """The home of that account."""
        access = access_of(self.api, self.token)
        async with cluster_home(access, catalog=Registry(), scope=Scope(self.namespace)) as home:
            yield home


@asynccontextmanager
async def running(
    home: KubernetesHome, substitute: Substitute | None = None
) -> AsyncGenerator[RunningEngine]:
    hooks = EngineOverrides(substitute=substitute)
    async with run_engine(home, registry=Registry(), settings=HURRIED, clock=Clock(), hooks=hooks) as engine:
        await engine.engine.synced.wait()
        yield engine


@pytest.fixture
def cluster(api: KubeApi, namespace: str) -> Cluster:
    """With a store, and a neighbour that uses it."""
    made = Cluster(api, namespace)
    made.store(k="one", l="two")
    made.sync("neighbour")
    return made


@pytest.fixture
def worker(api: KubeApi, namespace: str) -> Worker:
    return Worker(api, namespace)


async def served(cluster: Cluster, name: str = "neighbour") -> None:
    """Wait until the neighbour has what it wants."""
    await until(lambda: cluster.ready(name).get("status") == "True")


async def rests(worker: Worker, most: int, *, within: float = 2.0) -> None:
    """Assert that few more writes come while nothing changes: with these settings a loop makes hundreds."""
    before = sum(worker.writes().values())
    await asyncio.sleep(within)
    after = sum(worker.writes().values())
    assert after - before <= most, worker.writes()


async def test_the_secret_of_another_namespace_is_not_read(
    api: KubeApi, cluster: Cluster, worker: Worker
) -> None:
    other = api.namespace()
    secret = {"metadata": {"name": "theirs"}, "stringData": {"token": "sesame"}}
    api.create(f"/api/v1/namespaces/{other}/secrets", secret)
    login = {"tokenSecretRef": {"name": "theirs", "key": "token", "namespace": other}}
    spec = {"provider": {"vault": {"server": "http://127.0.0.1:1", "path": "kv", "auth": login}}}
    document = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "SecretStore",
        "metadata": {"name": "thief"},
        "spec": spec,
    }
    made = api.request("POST", cluster.path("secretstores"), document)
    async with worker.home() as home, running(home) as engine:
        await served(cluster)
        if made.status == 201:  # the CRD cannot refuse it: the run must
            cluster.sync("e", secretStoreRef={"name": "thief"})
            await until(lambda: cluster.ready("e").get("status") == "False")
        await engine.engine.wait_idle()
    asked = api.audited(worker.namespace, worker.account)
    assert not [each for each in asked if f"/namespaces/{other}" in each.uri]


async def test_a_store_that_the_namespace_may_not_use(
    api: KubeApi, home: KubernetesHome, cluster: Cluster
) -> None:
    name = f"closed-{cluster.namespace}"
    spec: Document = {
        "conditions": [{"namespaces": ["elsewhere"]}],
        "provider": {"fake": {"data": [{"key": "k", "value": "v"}]}},
    }
    place = f"/apis/{GROUP}/v1/clustersecretstores"
    metadata = {"name": name}
    document = {"apiVersion": f"{GROUP}/v1", "kind": "ClusterSecretStore", "metadata": metadata, "spec": spec}
    api.create(place, document)
    cluster.sync("e", secretStoreRef={"kind": "ClusterSecretStore", "name": name})
    try:
        async with running(home):
            await until(lambda: cluster.ready("e").get("status") == "False")
            await served(cluster)
    finally:
        api.request("DELETE", f"{place}/{name}")
    assert name in cluster.ready("e")["message"]
    assert cluster.get("secrets", "e") is None


async def test_a_condition_by_regexp_that_is_meant_to_hang(
    api: KubeApi, home: KubernetesHome, cluster: Cluster
) -> None:
    name = f"slow-{cluster.namespace}"
    spec: Document = {
        "conditions": [{"namespaceRegexes": ["(([a-z0-9-]+)+)+!", "(x+x+)+y"]}],
        "provider": {"fake": {"data": [{"key": "k", "value": "v"}]}},
    }
    metadata = {"name": name}
    place = f"/apis/{GROUP}/v1/clustersecretstores"
    long = "x" * 40
    api.create("/api/v1/namespaces", {"metadata": {"name": long + cluster.namespace}})
    victim = Cluster(api, long + cluster.namespace)
    document = {"apiVersion": f"{GROUP}/v1", "kind": "ClusterSecretStore", "metadata": metadata, "spec": spec}
    api.create(place, document)
    victim.sync("e", secretStoreRef={"kind": "ClusterSecretStore", "name": name})
    try:
        async with (
            cluster_home(access_of(api), catalog=Registry(), scope=Scope(victim.namespace)) as other,
            running(other),
            running(home),
        ):
            await until(lambda: victim.ready("e").get("status") == "False")
            await served(cluster)
    finally:
        api.request("DELETE", f"{place}/{name}")
    assert victim.get("secrets", "e") is None


@pytest.mark.parametrize("policy", ["Owner", "Merge"])
async def test_a_target_that_another_controller_owns(
    api: KubeApi, cluster: Cluster, worker: Worker, policy: str
) -> None:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "d",
        "uid": "6a7c1c5e-0f43-4b5f-9d1b-2f0f3a3c9f10",
        "controller": True,
    }
    owned = {"metadata": {"name": "e", "ownerReferences": [owner]}, "stringData": {"theirs": "x"}}
    api.create(cluster.path("secrets"), owned)
    cluster.sync("e", target={"creationPolicy": policy})
    expected = {"Owner": "False", "Merge": "True"}[policy]
    async with worker.home() as home, running(home):
        await until(lambda: cluster.ready("e").get("status") == expected)
        await served(cluster)
        await rests(worker, 0)
    secret = cluster.get("secrets", "e") or {}
    assert [each["kind"] for each in secret["metadata"]["ownerReferences"]] == ["Deployment"]
    assert secret["data"]["theirs"] == "eA=="
    assert ("a" in secret["data"]) is (policy == "Merge")


async def test_a_secret_that_is_too_large(cluster: Cluster, worker: Worker) -> None:
    data = [{"key": f"k{number}", "value": "x" * 400_000} for number in range(2)]
    cluster.create("secretstores", "large", {"provider": {"fake": {"data": data}}})
    several = [{"secretKey": f"a{number}", "remoteRef": {"key": f"k{number % 2}"}} for number in range(4)]
    cluster.sync("e", secretStoreRef={"name": "large"}, data=several)
    async with worker.home() as home, running(home):
        await until(lambda: cluster.ready("e").get("status") == "False")
        await served(cluster)
        await rests(worker, 8)
        assert "could not update secret" in cluster.ready("e")["message"]
        cluster.api.request("PATCH", cluster.path("externalsecrets", "e"), {"spec": {"data": several[:2]}})
        await served(cluster, "e")


async def test_an_object_that_is_edited_during_its_own_sync(cluster: Cluster, worker: Worker) -> None:
    cluster.sync("e")
    edits = iter(("l", "k", "l"))
    made: list[str] = []

    def editing(client: Any) -> Client:  # noqa: ANN401  # the fake one, whose reads are edited
        real = client.fetch

        async def fetch(keys: Sequence[RemoteKey]) -> object:
            found = await real(keys)
            key = next(edits, None)
            if key is not None:
                data = [{"secretKey": "a", "remoteRef": {"key": key}}]
                path = cluster.path("externalsecrets", "e")
                await asyncio.to_thread(cluster.api.request, "PATCH", path, {"spec": {"data": data}})
                made.append(key)
            return found

        client.fetch = fetch
        edited: Client = client
        return edited

    def substitute(_: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        real = provider.open
        assert real is not None

        @asynccontextmanager
        async def opened(spec: Model, context: OpenContext) -> AsyncGenerator[Client]:
            async with real(spec, context) as client:
                yield editing(client)

        return replace(provider, open=opened)

    async with worker.home() as home, running(home, substitute=substitute) as engine:
        await until(lambda: len(made) == 3)
        await until(lambda: (cluster.get("secrets", "e") or {}).get("data") == {"a": "dHdv"})
        await served(cluster, "e")
        await served(cluster)
        await engine.engine.wait_idle()
        await rests(worker, 0)
    found = cluster.get("externalsecrets", "e") or {}
    synced = member(found, "status")["syncedResourceVersion"]
    assert synced.startswith(f"{found['metadata']['generation']}-")


async def test_a_namespace_that_is_being_deleted(api: KubeApi, cluster: Cluster, worker: Worker) -> None:
    async with worker.home() as home, running(home) as engine:
        await served(cluster)
        api.request("DELETE", f"/api/v1/namespaces/{cluster.namespace}")
        api.request("DELETE", cluster.path("secrets", "neighbour"))
        await until(lambda: any(name[2] == 403 for name in worker.writes()))
        await rests(worker, 0)
        assert cluster.ready("neighbour")["status"] == "True", "it is no failure of the object"
        assert engine.engine.failures(EXTERNAL_SECRET.ref(cluster.namespace, "neighbour")) == 0
    api.request("DELETE", cluster.path("externalsecrets", "neighbour"))  # the namespace itself stays here


@pytest.mark.parametrize(
    "lost", ["create secrets", "update secrets", "patch their status", "patch our kinds", "tell", "own"]
)
async def test_a_right_that_is_taken_away_comes_back(cluster: Cluster, worker: Worker, lost: str) -> None:
    async with worker.home() as home, running(home) as engine:
        await served(cluster)
        worker.lose(lost)
        await asyncio.sleep(0.3)  # the API server's own view of roles lags
        cluster.sync("e", target={"deletionPolicy": "Delete"})
        path = cluster.path("externalsecrets", "neighbour")
        data = [{"secretKey": "a", "remoteRef": {"key": "l"}}]
        cluster.api.request("PATCH", path, {"spec": {"data": data}})
        ref = EXTERNAL_SECRET.ref(cluster.namespace, "e")
        neighbour = EXTERNAL_SECRET.ref(cluster.namespace, "neighbour")
        if lost != "tell":
            await until(lambda: engine.engine.failing & {ref, neighbour} or _denied(worker))
        await rests(worker, 60)
        worker.regain()
        await served(cluster, "e")
        await until(lambda: (cluster.get("secrets", "neighbour") or {}).get("data") == {"a": "dHdv"})
        await until(lambda: not engine.engine.failing)
        await engine.engine.wait_idle()
        await rests(worker, 0)


def _denied(worker: Worker) -> bool:
    return any(status == 403 for _, _, status in worker.writes())
