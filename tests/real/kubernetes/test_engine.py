"""The engine on a real API server: what users see of their objects there."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Literal

import pytest

from syncret.config.meta import Document, member
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.config.settings import Settings
from syncret.daemon.app import RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.providers.registry import Registry
from tests.support.servers.kube.crds import CRDS
from tests.support.servers.kube.running import KubeApi
from tests.support.waiting import until

pytestmark = pytest.mark.slow

IN_CLUSTER = Settings(kubernetes=True)
CLEANUP = "externalsecrets.external-secrets.io/externalsecret-cleanup"


class Cluster:
    """What an author of manifests does and sees in one namespace."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def path(self, kind: str, name: str = "") -> str:
        """The path of an object, or of all of a kind."""
        group = {
            "secrets": "/api/v1",
            "events": "/api/v1",
            "passwords": "/apis/generators.external-secrets.io/v1alpha1",
            "pushsecrets": "/apis/external-secrets.io/v1alpha1",
            "deliveries": "/apis/syncret.dev/v1alpha1",
        }.get(kind, "/apis/external-secrets.io/v1")
        return f"{group}/namespaces/{self.namespace}/{kind}{f'/{name}' if name else ''}"

    def create(self, kind: str, name: str, spec: Document, **metadata: object) -> None:
        version, _, _ = self.path(kind).removeprefix("/apis/").partition("/namespaces/")
        kinds = {"externalsecrets": "ExternalSecret", "secretstores": "SecretStore", "passwords": "Password"}
        kinds["deliveries"] = "Delivery"
        document = {
            "apiVersion": version,
            "kind": kinds[kind],
            "metadata": {"name": name, **metadata},
            "spec": spec,
        }
        self.api.create(self.path(kind), document)

    def get(self, kind: str, name: str) -> Document | None:
        return self.api.get(self.path(kind, name))

    def store(self, **values: str) -> None:
        """The store `s` with these values."""
        data = [{"key": key, "value": value} for key, value in values.items()]
        self.create("secretstores", "s", {"provider": {"fake": {"data": data}}})

    def sync(self, name: str, key: str = "k", *, finalizers: Sequence[str] = (), **spec: object) -> None:
        self.create(
            "externalsecrets",
            name,
            {
                "refreshInterval": "1h",
                "secretStoreRef": {"name": "s"},
                "data": [{"secretKey": "a", "remoteRef": {"key": key}}],
                **spec,
            },
            **({"finalizers": finalizers} if finalizers else {}),
        )

    def ready(self, name: str) -> Document:
        """The condition of an ExternalSecret; an empty one before there is one."""
        found = self.get("externalsecrets", name) or Document()
        conditions: list[Document] = member(found, "status").get("conditions", [])
        return next((each for each in conditions if each["type"] == "Ready"), Document())


@asynccontextmanager
async def running(home: KubernetesHome, settings: Settings = IN_CLUSTER) -> AsyncGenerator[RunningEngine]:
    async with run_engine(home, registry=Registry(), settings=settings, clock=Clock()) as engine:
        await engine.engine.first_pass.wait()
        yield engine


@pytest.fixture
def cluster(api: KubeApi, namespace: str) -> Cluster:
    return Cluster(api, namespace)


async def test_what_is_wanted_is_there_and_said(home: KubernetesHome, cluster: Cluster) -> None:
    cluster.store(k="one")
    cluster.sync("early")
    async with running(home):
        cluster.sync("late")
        await until(lambda: all(cluster.ready(name).get("status") == "True" for name in ("early", "late")))
    for name in ("early", "late"):
        secret = cluster.get("secrets", name)
        assert secret is not None
        assert secret["data"] == {"a": "b25l"}
        (owner,) = secret["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("ExternalSecret", name, True)
        (booked,) = secret["metadata"]["managedFields"]
        assert (booked["manager"], booked["operation"]) == (
            f"externalsecrets.external-secrets.io/{name}",
            "Update",
        )
        assert cluster.ready(name)["reason"] == "SecretSynced"


async def test_an_edited_and_a_deleted_target_come_back(
    home: KubernetesHome, cluster: Cluster, api: KubeApi
) -> None:
    cluster.store(k="one")
    cluster.sync("e")
    path = cluster.path("secrets", "e")
    async with running(home):
        secret = cluster.get("secrets", "e")
        assert secret is not None
        secret["data"] = {"a": "eA=="}
        api.request("PUT", path, secret)
        await until(lambda: (cluster.get("secrets", "e") or {}).get("data") == {"a": "b25l"})
        uid = secret["metadata"]["uid"]
        api.request("DELETE", path)
        await until(
            lambda: (found := cluster.get("secrets", "e")) is not None and found["metadata"]["uid"] != uid
        )


async def test_a_restart_writes_and_reads_nothing(home: KubernetesHome, cluster: Cluster) -> None:
    cluster.store(k="one")
    for number in range(20):
        cluster.sync(f"e{number}")
    async with running(home):
        pass

    def versions() -> list[str]:
        found: list[str] = []
        for number in range(20):
            for kind in ("externalsecrets", "secrets"):
                each = cluster.get(kind, f"e{number}")
                assert each is not None
                found.append(each["metadata"]["resourceVersion"])
        return found

    before = versions()
    async with running(home) as engine:
        await engine.engine.wait_idle()
    assert versions() == before


async def test_a_password_that_is_generated_once_stays(home: KubernetesHome, cluster: Cluster) -> None:
    cluster.create("passwords", "pw", {"length": 24})
    generator = {"apiVersion": "generators.external-secrets.io/v1alpha1", "kind": "Password", "name": "pw"}
    for number in range(50):
        cluster.create(
            "externalsecrets",
            f"p{number}",
            {"refreshPolicy": "CreatedOnce", "dataFrom": [{"sourceRef": {"generatorRef": generator}}]},
        )

    def passwords() -> dict[str, Document]:
        found = {f"p{number}": cluster.get("secrets", f"p{number}") for number in range(50)}
        return {name: secret["data"] for name, secret in found.items() if secret is not None}

    async with running(home) as engine:
        first = passwords()
        await engine.engine.wait_idle()
    assert len(first) == 50
    async with running(home) as engine:
        await engine.engine.wait_idle()
    assert passwords() == first


async def test_a_failure_is_said_with_its_cause(home: KubernetesHome, cluster: Cluster) -> None:
    cluster.store(k="one")
    cluster.sync("e", key="missing")
    async with running(home):
        await until(lambda: cluster.ready("e").get("status") == "False")
    condition = cluster.ready("e")
    assert condition["reason"] == "SecretSyncedError"
    assert condition["message"].startswith("could not get secret data from provider")
    assert cluster.get("secrets", "e") is None


async def test_deletion_deletes_the_target_where_that_is_asked_for(
    home: KubernetesHome, cluster: Cluster, api: KubeApi
) -> None:
    cluster.store(k="one")
    cluster.sync("e", target={"deletionPolicy": "Delete"})
    async with running(home):
        await until(lambda: cluster.ready("e").get("status") == "True")
        found = cluster.get("externalsecrets", "e")
        assert found is not None
        assert found["metadata"]["finalizers"] == [CLEANUP]
        api.request("DELETE", cluster.path("externalsecrets", "e"))
        await until(lambda: cluster.get("externalsecrets", "e") is None)
        assert cluster.get("secrets", "e") is None


async def test_an_object_of_another_time_stops_no_other(
    home: KubernetesHome, cluster: Cluster, api: KubeApi
) -> None:
    """A CRD without our rules takes what our models refuse: it was stored before they were there."""
    cluster.store(k="one")
    cluster.sync("good")
    cluster.sync("bad")
    crd = f"{CRDS}/externalsecrets.external-secrets.io"
    strict = api.get(crd)
    assert strict is not None
    lax = deepcopy(strict)
    stored = lax["spec"]["versions"][0]
    stored["schema"]["openAPIV3Schema"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    stored.pop("selectableFields", None)
    assert api.request("PUT", crd, lax).status == 200
    path = cluster.path("externalsecrets", "bad")
    try:
        await until(lambda: _stored(api, path, {"refreshPolicy": "Never"}))
        async with running(home) as engine:
            assert cluster.ready("good")["status"] == "True"
            ref = EXTERNAL_SECRET.ref(cluster.namespace, "bad")
            problem = engine.engine.unreported(ref)
            assert problem is not None
            assert "refreshPolicy" in problem.message
            cluster.sync("later")
            await until(lambda: cluster.ready("later").get("status") == "True")
    finally:
        api.request("DELETE", path)
        lax["spec"]["versions"] = strict["spec"]["versions"]
        newest = api.get(crd)
        assert newest is not None
        lax["metadata"]["resourceVersion"] = newest["metadata"]["resourceVersion"]
        assert api.request("PUT", crd, lax).status == 200


def _stored(api: KubeApi, path: str, spec: Document) -> bool:
    """Whether the server took the change: a new schema is in force some time after it was written."""
    found = api.get(path)
    assert found is not None
    return api.request("PUT", path, {**found, "spec": {**found["spec"], **spec}}).status == 200


@pytest.mark.parametrize(("finalizer", "expected"), [("needed", []), ("always", [CLEANUP])])
async def test_the_finalizer_of_what_leaves_nothing_to_do(
    home: KubernetesHome,
    cluster: Cluster,
    api: KubeApi,
    finalizer: Literal["needed", "always"],
    expected: list[str],
) -> None:
    cluster.store(k="one")
    cluster.sync("e")
    cluster.sync("migrated", finalizers=[CLEANUP])
    settings = Settings(kubernetes=True, external_secret_finalizer=finalizer)

    def finalizers(name: str) -> list[str]:
        found = cluster.get("externalsecrets", name)
        assert found is not None
        return list(found["metadata"].get("finalizers", []))

    async with running(home, settings):
        await until(lambda: all(cluster.ready(name).get("status") == "True" for name in ("e", "migrated")))
        assert finalizers("e") == expected
        assert finalizers("migrated") == [CLEANUP], "one that is there stays"
        for name in ("e", "migrated"):
            api.request("DELETE", cluster.path("externalsecrets", name))
        await until(lambda: not any(cluster.get("externalsecrets", name) for name in ("e", "migrated")))
    for name in ("e", "migrated"):
        assert cluster.get("secrets", name) is not None, "the garbage collector's, which is not here"


async def test_events_are_there_for_who_describes_an_object(
    home: KubernetesHome, cluster: Cluster, api: KubeApi
) -> None:
    cluster.store(k="one")
    cluster.sync("e")
    cluster.sync("bad", key="missing")
    (written := asyncio.create_task(home.run())).set_name("events")

    def described(kind: str, name: str) -> list[Document]:
        """What `kubectl describe` asks for."""
        found = cluster.get(kind, name)
        assert found is not None
        uid = found["metadata"]["uid"]
        path = cluster.path("events") + f"?fieldSelector=involvedObject.uid={uid}"
        items: list[Document] = api.request("GET", path).body["items"]
        return items

    async with running(home):
        await until(lambda: described("externalsecrets", "e") and described("externalsecrets", "bad"))
        await until(lambda: [each for each in described("secretstores", "s") if each["reason"] == "Valid"])
    written.cancel()
    (created,) = described("externalsecrets", "e")
    assert (created["type"], created["reason"]) == ("Normal", "Created")
    assert created["reportingComponent"] == "external-secrets"
    (failed,) = described("externalsecrets", "bad")
    assert (failed["type"], failed["reason"]) == ("Warning", "UpdateFailed")
    assert "missing" in failed["message"]
    (valid,) = [each for each in described("secretstores", "s") if each["reason"] == "Valid"]
    assert (valid["reason"], valid["source"]["component"]) == ("Valid", "secret-store")
