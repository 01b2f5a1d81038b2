"""Authentication at an API server, what a push writes to a Secret there, and the errors if it cannot."""

import asyncio
import json
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.catalog import Scope
from syncret.config.fields import Json, SecretKeySelector, ServiceAccountSelector
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.filesystem.service_accounts import issue_token
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.kube import client as kube_client
from syncret.providers.kit.kube.spec import BearerToken, ClientCertificate, KubernetesAuth, KubernetesServer
from syncret.providers.kubernetes import open_kubernetes
from syncret.providers.kubernetes.client import KubernetesClient
from syncret.providers.kubernetes.spec import KubernetesSpec
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import NOW, Given, context
from tests.support.served import all_to, served
from tests.support.servers.kube.running import ADMIN, KubeApi, kube_api

pytestmark = pytest.mark.slow

MAY = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "create", "update", "delete"]}
TOKEN = BearerToken(bearer_token=SecretKeySelector(name="login", key="token"))


@pytest.fixture
async def api() -> KubeApi:
    return await asyncio.to_thread(kube_api)


@asynccontextmanager
async def opened(
    api: KubeApi, namespace: str, *, token: str = ADMIN, cluster: bool = False
) -> AsyncGenerator[KubernetesClient, None]:
    spec = KubernetesSpec(
        server=KubernetesServer(url=api.url, ca_bundle=api.ca_base64),
        auth=KubernetesAuth(token=TOKEN),
        remote_namespace=namespace,
    )
    scope = Scope(cluster=cluster, namespace="" if cluster else "default")
    given = Given(secrets={"login": {"token": f"{token}\n".encode()}})
    async with open_kubernetes(spec, context(given, scope=scope)) as client:
        yield client


def kubeconfig(api: KubeApi, **user: str) -> bytes:
    return json.dumps(
        {
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [
                {"name": "c", "cluster": {"server": api.url, "certificate-authority-data": api.ca_base64}}
            ],
            "users": [{"name": "u", "user": user}],
        }
    ).encode()


@pytest.mark.parametrize("way", ["token", "certificate", "account", "kubeconfig", "kubeconfig certificate"])
async def test_each_login(api: KubeApi, way: str) -> None:
    namespace = api.namespace()
    account = api.account(namespace, MAY)
    token = api.token(namespace, account).encode()
    pair = api.certificate("admin", "system:masters")
    given = Given(
        secrets={
            "login": {
                "token": token,
                "crt": pair.certificate,
                "key": pair.key,
                "kubeconfig": kubeconfig(api, token=token.decode()),
                "kubeconfig certificate": kubeconfig(
                    api,
                    **{
                        "client-certificate-data": b64encode(pair.certificate).decode(),
                        "client-key-data": b64encode(pair.key).decode(),
                    },
                ),
            }
        },
        tokens={account: IssuedToken(SecretBytes(token), NOW + 3600)},
    )
    certificate = ClientCertificate(
        client_cert=SecretKeySelector(name="login", key="crt"),
        client_key=SecretKeySelector(name="login", key="key"),
    )
    auth = {
        "token": KubernetesAuth(token=TOKEN),
        "certificate": KubernetesAuth(cert=certificate),
        "account": KubernetesAuth(service_account=ServiceAccountSelector(name=account)),
    }.get(way)
    spec = KubernetesSpec(
        server=KubernetesServer(url=api.url, ca_bundle=api.ca_base64),
        auth=auth,
        auth_ref=None if auth else SecretKeySelector(name="login", key=way),
        remote_namespace=namespace,
    )
    async with open_kubernetes(spec, context(given)) as client:
        assert await client.probe() == "ready"
        assert await client.fetch([RemoteKey("absent")]) == {}

    assert given.asked == ([(account, (), 3600)] if way == "account" else [])


async def test_missing_permissions_are_reported_with_what_to_grant(api: KubeApi) -> None:
    namespace = api.namespace()
    token = api.token(namespace, api.account(namespace))
    async with opened(api, namespace, token=token) as client:
        with pytest.raises(Denied, match="not allowed to get secrets") as caught:
            await client.probe()
        [answer] = (await client.fetch([RemoteKey("a")])).values()

    assert namespace in caught.value.hint
    assert isinstance(answer, Denied)
    assert token not in f"{answer}{answer.hint}{caught.value}"


async def test_an_expired_token_is_reported(api: KubeApi) -> None:
    async with opened(api, "default", token="wrong") as client:
        with pytest.raises(Denied, match="HTTP 401"):
            await client.probe()


async def test_only_the_api_itself_says_not_found() -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(status=404, text="<html>no such page")

    async with served(all_to(page)) as url:
        spec = KubernetesSpec(server=KubernetesServer(url=url), auth=KubernetesAuth(token=TOKEN))
        given = Given(secrets={"login": {"token": b"t"}})
        async with open_kubernetes(spec, context(given)) as client:
            [answer] = (await client.fetch([RemoteKey("a")])).values()

    assert isinstance(answer, Malformed)
    assert "not from a Kubernetes API" in str(answer)


async def test_lists_come_page_by_page(api: KubeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_client, "PAGE", 3)
    namespace = api.namespace()
    for number in range(8):
        api.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": f"s-{number}"}})
    async with opened(api, namespace) as client:
        assert len(await client.find(FindQuery(name="^s-"), unpaced, Work())) == 8


SOURCE: dict[str, Json] = {
    "metadata": {"name": "src", "labels": {"own": "1", "both": "source"}, "annotations": {"note": "n"}},
    "type": "kubernetes.io/basic-auth",
    "data": {"username": "YQ==", "password": "Yg=="},
}


def options(**spec: Json) -> dict[str, Json]:
    return {
        "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
        "kind": "PushSecretMetadata",
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("metadata", "labels"),
    [
        pytest.param(None, {"there": "1", "own": "1", "both": "source"}, id="merged"),
        pytest.param(
            options(labels={"both": "written"}), {"there": "1", "own": "1", "both": "written"}, id="written"
        ),
        pytest.param(
            options(sourceMergePolicy="Replace", labels={"new": "1"}),
            {"there": "1", "both": "there", "new": "1"},
            id="source replaced",
        ),
        pytest.param(
            options(targetMergePolicy="Replace"), {"own": "1", "both": "source"}, id="target replaced"
        ),
        pytest.param(
            options(targetMergePolicy="Ignore"), {"there": "1", "both": "there"}, id="target ignored"
        ),
    ],
)
async def test_a_whole_secret_is_pushed(
    api: KubeApi, metadata: dict[str, Json] | None, labels: Mapping[str, str]
) -> None:
    namespace = api.namespace()
    path = f"/api/v1/namespaces/{namespace}/secrets"
    there = {"name": "t", "labels": {"there": "1", "both": "there"}}
    api.create(path, {"metadata": there, "type": "kubernetes.io/basic-auth", "data": {"username": "eA=="}})
    async with opened(api, namespace) as client:
        item = PushItem("t", "", SecretBytes(b"{}"), metadata=metadata, source=SOURCE)
        await client.push(item)
        first = api.get(f"{path}/t") or {}
        await client.push(item)
        second = api.get(f"{path}/t") or {}

    assert (first["data"], first["type"]) == (SOURCE["data"], SOURCE["type"])
    assert first["metadata"]["labels"] == labels
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_other_namespaces_are_for_cluster_stores(api: KubeApi) -> None:
    one, two = api.namespace(), api.namespace()
    item = PushItem("t", "", SecretBytes(b"{}"), metadata=options(remoteNamespace=two), source=SOURCE)
    async with opened(api, one) as client:
        with pytest.raises(Malformed, match="only supported with ClusterSecretStore"):
            await client.push(item)
    async with opened(api, one, cluster=True) as client:
        await client.push(item)

    assert api.get(f"/api/v1/namespaces/{one}/secrets/t") is None
    assert api.get(f"/api/v1/namespaces/{two}/secrets/t") is not None


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        pytest.param(PushItem("t", "", SecretBytes(b"x"), secret_key="k"), "requires property", id="a key"),
        pytest.param(
            PushItem("t", "p", SecretBytes(b"x"), metadata=options(colour="red")), "metadata", id="an option"
        ),
        pytest.param(PushItem("", "p", SecretBytes(b"x")), "a Secret has a name", id="no name"),
        pytest.param(PushItem("No_Name", "p", SecretBytes(b"canary")), "HTTP 422", id="no Kubernetes name"),
        pytest.param(PushItem("../pods", "p", SecretBytes(b"x")), "HTTP|path", id="a way up"),
    ],
)
async def test_pushes_that_are_refused(api: KubeApi, item: PushItem, expected: str) -> None:
    async with opened(api, api.namespace()) as client:
        with pytest.raises(SyncError, match=expected) as caught:
            await client.push(item)
    assert "canary" not in f"{caught.value}"


async def test_deleting_the_last_key_deletes_the_secret(api: KubeApi) -> None:
    namespace = api.namespace()
    path = f"/api/v1/namespaces/{namespace}/secrets"
    api.create(path, {"metadata": {"name": "t"}, "data": {"a": "YQ==", "b": "Yg=="}})
    async with opened(api, namespace) as client:
        await client.delete(RemoteTarget("t", "none"))
        await client.delete(RemoteTarget("t", "a"))
        left = api.get(f"{path}/t") or {}
        await client.delete(RemoteTarget("t", "b"))

    assert left["data"] == {"b": "Yg=="}
    assert api.get(f"{path}/t") is None


async def test_metadata_is_read(api: KubeApi) -> None:
    namespace = api.namespace()
    labels = {"app.kubernetes.io/name": "web", "plain": "1"}
    metadata = {"name": "t", "labels": labels, "annotations": {"json": '{"a":"b"}'}}
    api.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": metadata, "data": {"k": "dg=="}})
    async with opened(api, namespace) as client:
        [payload] = (await client.fetch([RemoteKey("t")])).values()
        assert not isinstance(payload, SyncError)

        def value(name: str) -> bytes:
            found = client.value(payload, RemoteRef("t", name, metadata=True), Work())
            return b"" if found is None else found.raw

        assert json.loads(value(""))["labels"] == labels
        assert json.loads(value("labels")) == labels
        assert value("labels.plain") == b"1"
        assert value("labels.app.kubernetes.io/name") == b"web"
        assert value("annotations.json.a") == b"b"
        with pytest.raises(Malformed, match="does not exist in metadata"):
            value("labels.none")
        keys = client.fields(payload, RemoteRef("t", metadata=True), Work())
        assert sorted(keys or {}) == ["annotations", "labels"]


async def test_a_pod_asks_its_own_api_server_for_tokens(api: KubeApi, tmp_path: Path) -> None:
    namespace = api.namespace()
    may = {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}
    own, app = api.account(namespace, may), api.account(namespace, MAY)
    host, _, port = api.url.removeprefix("https://").partition(":")
    environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    (tmp_path / "ca.crt").write_bytes(api.ca)
    account = ObjectRef("", "ServiceAccount", namespace, app)
    issue = partial(issue_token, environment=environment, mount=tmp_path)
    with pytest.raises(Malformed, match="this home cannot issue a token"):
        await issue(account, (), 600)
    (tmp_path / "token").write_text(api.token(namespace, own))
    issued = await issue(account, ("vault", "https://kubernetes.default.svc"), 900)
    review = api.create(
        "/apis/authentication.k8s.io/v1/tokenreviews",
        {"spec": {"token": issued.token.raw.decode(), "audiences": ["vault"]}},
    )

    assert review["status"]["user"]["username"] == f"system:serviceaccount:{namespace}:{app}"
    assert review["status"]["audiences"] == ["vault"]
    assert 800 < issued.expires - time.time() < 1000
    with pytest.raises(Malformed, match="it does not exist"):
        await issue(ObjectRef("", "ServiceAccount", namespace, "none"), (), 600)
    (tmp_path / "token").write_text(api.token(namespace, app))
    with pytest.raises(Denied, match="HTTP 403"):
        await issue(account, (), 600)


async def test_a_token_that_is_refused_is_replaced(api: KubeApi) -> None:
    namespace = api.namespace()
    account = api.account(namespace, MAY)
    given = Given(tokens={"app": IssuedToken(SecretBytes(b"revoked"), NOW + 3600)})
    spec = KubernetesSpec(
        server=KubernetesServer(url=api.url, ca_bundle=api.ca_base64),
        auth=KubernetesAuth(service_account=ServiceAccountSelector(name="app", audiences=("a",))),
        remote_namespace=namespace,
    )
    async with open_kubernetes(spec, context(given)) as client:
        token = SecretBytes(api.token(namespace, account).encode())
        given.tokens["app"] = IssuedToken(token, NOW + 3600)
        answers = await asyncio.gather(*(client.fetch([RemoteKey(f"absent-{n}")]) for n in range(5)))
        given.tokens["app"] = IssuedToken(SecretBytes(b"revoked"), NOW + 3600)

        assert answers == [{}] * 5
        assert await client.probe() == "ready"

    assert given.asked == [("app", ("a",), 3600)] * 2
