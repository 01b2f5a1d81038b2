"""Objects of a real API server. The suite does not fit: what is read holds what the server adds to it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from syncret.config.catalog import Scope
from syncret.config.fields import SecretKeySelector
from syncret.providers.crd import open_crd
from syncret.providers.crd.client import CrdClient
from syncret.providers.crd.spec import CrdSpec, Resource, Whitelist, WhitelistRule
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.kube.spec import BearerToken, KubernetesAuth, KubernetesServer
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.servers.kube.running import KubeApi, kube_api

pytestmark = pytest.mark.slow

GROUP, KIND, PLURAL = "tests.syncret.dev", "Database", "databases"
SPEC = {"user": "ada", "port": 5432, "tags": ["a", "b"], "on": True}
READS = {"apiGroups": [GROUP], "resources": [PLURAL], "verbs": ["get", "list"]}


class Cluster(NamedTuple):
    """A cluster with the resource, and a namespace with two objects of it."""

    api: KubeApi
    namespace: str

    @asynccontextmanager
    async def opened(
        self,
        *rules: WhitelistRule,
        cluster: bool = False,
        may: dict[str, list[str]] | None = None,
        kind: str = KIND,
    ) -> AsyncGenerator[CrdClient, None]:
        account = self.api.account(self.namespace, may or READS, everywhere=cluster)
        given = Given(secrets={"login": {"token": self.api.token(self.namespace, account).encode()}})
        token = BearerToken(bearer_token=SecretKeySelector(name="login", key="token"))
        spec = CrdSpec(
            resource=Resource(group=GROUP, version="v1", kind=kind),
            server=KubernetesServer(url=self.api.url, ca_bundle=self.api.ca_base64),
            auth=KubernetesAuth(token=token),
            whitelist=Whitelist(rules=rules),
        )
        scope = Scope(cluster=cluster, namespace="" if cluster else self.namespace)
        async with open_crd(spec, context(given, scope=scope)) as client:
            yield client


@pytest.fixture
async def cluster() -> Cluster:
    api = await asyncio.to_thread(kube_api)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": KIND, "plural": PLURAL},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }
    api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    namespace = api.namespace()
    path = f"/apis/{GROUP}/v1/namespaces/{namespace}/{PLURAL}"
    for _ in range(200):
        if api.get(path) is not None:
            break
        await asyncio.sleep(0.05)
    for name in ("db-a", "db-b"):
        document = {"apiVersion": f"{GROUP}/v1", "kind": KIND, "metadata": {"name": name}, "spec": SPEC}
        api.create(path, document)
    return Cluster(api, namespace)


async def read(client: CrdClient, key: str, name: str = "") -> bytes | None:
    ref = RemoteRef(key, name)
    payload = (await client.fetch([client.remote_key(ref)])).get(RemoteKey(key))
    if isinstance(payload, SyncError):
        raise payload
    found = None if payload is None else client.value(payload, ref, Work())
    return None if found is None else found.raw


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("spec.user", b"ada", id="a string"),
        pytest.param("spec.port", b"5432", id="a number"),
        pytest.param("spec.tags", b'["a","b"]', id="a list"),
        pytest.param("spec.tags.#", b"2", id="a query"),
    ],
)
async def test_properties(cluster: Cluster, name: str, expected: bytes) -> None:
    async with cluster.opened() as client:
        assert await read(client, "db-a", name) == expected
        assert await read(client, "absent", name) is None
        with pytest.raises(Malformed, match=r'property "spec\.none" not found'):
            await read(client, "db-a", "spec.none")


async def test_whole_objects_and_maps(cluster: Cluster) -> None:
    async with cluster.opened() as client:
        whole = json.loads(await read(client, "db-a") or b"")
        [payload] = (await client.fetch([RemoteKey("db-a")])).values()
        assert isinstance(payload, bytes)
        members = client.fields(payload, RemoteRef("db-a", "spec"), Work())
        single = client.fields(payload, RemoteRef("db-a", "spec.user"), Work())

    assert (whole["kind"], whole["metadata"]["name"], whole["spec"]) == (KIND, "db-a", SPEC)
    assert {key: each.raw for key, each in (members or {}).items()} == {
        "user": b"ada",
        "port": b"5432",
        "tags": b'["a","b"]',
        "on": b"true",
    }
    assert {key: each.raw for key, each in (single or {}).items()} == {"value": b"ada"}


async def test_finding(cluster: Cluster) -> None:
    async with cluster.opened() as client:
        assert sorted(await client.find(FindQuery(name="db-[a]$"), unpaced, Work())) == ["db-a"]
        assert sorted(await client.find(FindQuery(), unpaced, Work())) == ["db-a", "db-b"]
        for query in (FindQuery(tags=(("a", "b"),)), FindQuery(path="a")):
            with pytest.raises(Malformed, match="find operator"):
                await client.find(query, unpaced, Work())
    async with cluster.opened(cluster=True) as client:
        found = await client.find(FindQuery(name=f"^{cluster.namespace}/db-"), unpaced, Work())
        assert sorted(found) == [f"{cluster.namespace}/db-a", f"{cluster.namespace}/db-b"]
        assert json.loads(found[f"{cluster.namespace}/db-a"].raw)["kind"] == KIND


@pytest.mark.parametrize(
    ("in_cluster", "key", "expected"),
    [
        pytest.param(False, "", "must not be empty", id="empty"),
        pytest.param(False, "other/db-a", "must not contain '/'", id="another namespace"),
        pytest.param(True, "db-a", "namespace/objectName", id="no namespace"),
        pytest.param(True, "a/b/c", "exactly|namespace/objectName", id="too many parts"),
        pytest.param(True, "/b", "namespace/objectName", id="an empty namespace"),
        pytest.param(False, "..", "part of a path", id="a way up"),
    ],
)
async def test_keys_that_mean_nothing(cluster: Cluster, key: str, expected: str, *, in_cluster: bool) -> None:
    async with cluster.opened(cluster=in_cluster) as client:
        with pytest.raises(Malformed, match=expected):
            await read(client, key)


@pytest.mark.parametrize(
    ("rules", "refused", "found"),
    [
        pytest.param([WhitelistRule(name="^db-a$")], ["db-b spec.user"], ["db-a"], id="a name"),
        pytest.param(
            [WhitelistRule(name="^db-a$", properties=(r"^spec\.user$",))],
            ["db-b spec.user", "db-a spec.port", "db-a "],
            [],
            id="a property",
        ),
        pytest.param(
            [WhitelistRule(name="a$"), WhitelistRule(name="b$")],
            ["db-c spec.user"],
            ["db-a", "db-b"],
            id="several",
        ),
    ],
)
async def test_the_whitelist(
    cluster: Cluster, rules: Sequence[WhitelistRule], refused: Sequence[str], found: Sequence[str]
) -> None:
    async with cluster.opened(*rules) as client:
        assert await read(client, "db-a", "spec.user") == b"ada"
        for each in refused:
            with pytest.raises(Denied, match="denied by whitelist"):
                await read(client, *each.split(" "))
        assert sorted(await client.find(FindQuery(), unpaced, Work())) == found


async def test_opening_reports_what_is_missing(cluster: Cluster) -> None:
    with pytest.raises(Denied, match='not allowed to "get" resource "databases"'):
        async with cluster.opened(may={"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}):
            pass
    with pytest.raises(Malformed, match='kind "Nothing" is not registered'):
        async with cluster.opened(kind="Nothing"):
            pass
    only_get = {"apiGroups": [GROUP], "resources": [PLURAL], "verbs": ["get"]}
    async with cluster.opened(may=only_get) as client:
        assert await client.probe() == "ready"
        with pytest.raises(Denied, match='not allowed to "list"'):
            await client.find(FindQuery(), unpaced, Work())
