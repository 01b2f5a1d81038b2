"""The daemon's own identity, and servers that a manifest names: every way from one to the other."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec
import pytest

from syncret.config.catalog import Scope
from syncret.config.meta import Document, ObjectRef
from syncret.config.settings import OwnIdentity, OwnReceiver
from syncret.daemon.cli.main import main
from syncret.providers.contract import Reader
from syncret.providers.errors import Denied, SyncError
from syncret.providers.kit.ambient.door import Door
from syncret.providers.kit.ambient.rules import Verdict
from syncret.providers.registry import Registry
from syncret.providers.values import RemoteKey
from tests.support.foreign import CANARY, Recorder, foreign_server, machine
from tests.support.jwts import private_key, signed
from tests.support.opened import Given, context, door_of

JWT = signed({"sub": "system:serviceaccount:syncret:daemon"}, private_key("daemon"), kid="test")
EVIL = "https://evil.example"
MOUNTED = ("token", "container-token")
OWN_NAMESPACE, CLUSTER = Scope(cluster=False, namespace="default"), Scope(cluster=True)


def carries_the_canary(text: str) -> bool:
    return CANARY in text


def carries_the_jwt(text: str) -> bool:
    return JWT in unquote(text)


def is_signed_by_the_daemon(text: str) -> bool:
    """Whether the header in a login of Vault's method `iam` is signed with the daemon's keys."""
    body = msgspec.json.decode(text.partition("\n\n")[2])
    return CANARY in b64decode(body["iam_request_headers"]).decode()


def is_signed_for_infisical(text: str) -> bool:
    """The same for a login of Infisical's."""
    body = msgspec.json.decode(text.partition("\n\n")[2])
    return CANARY in b64decode(body["iamRequestHeaders"]).decode()


def infisical(method: str, **more: str) -> Document:
    """A store that logs in with this method; its Secret is LOGIN."""
    keys = {"identityId": "id", **more}
    selectors: Document = {name: {"name": "login", "key": key} for name, key in keys.items()}
    scope: Document = {"projectSlug": "shop", "environmentSlug": "prod"}
    return {"hostAPI": "URL", "auth": {method: selectors}, "secretsScope": scope}


LOGIN = {"id": b"i-1", "resource": b"https://management.azure.com/&client_id=c"}


class Way(NamedTuple):
    """A provider or generator and its spec; URL and HOST are a foreign server, TOKEN is a mounted file."""

    provider: str
    spec: Document
    proof: Callable[[str], bool] = carries_the_canary
    """Whether a request that the foreign server received carries the daemon's identity."""


WAYS = {
    "azurekv-federated": Way(
        "azurekv",
        {
            "vaultUrl": "URL",
            "authType": "WorkloadIdentity",
            "useAzureSDK": True,
            "customCloudConfig": {"activeDirectoryEndpoint": "URL"},
        },
        carries_the_jwt,
    ),
    "azurekv-managed": Way("azurekv", {"vaultUrl": "URL", "authType": "ManagedIdentity"}),
    "acr": Way("ACRAccessToken", {"registry": "HOST", "auth": {"managedIdentity": {}}}),
    "ibm": Way(
        "ibm",
        {
            "serviceUrl": "URL",
            "auth": {"containerAuth": {"profile": "p", "tokenLocation": "TOKEN", "iamEndpoint": "URL"}},
        },
        carries_the_jwt,
    ),
    "vault-kubernetes": Way(
        "vault",
        {"server": "URL", "auth": {"kubernetes": {"mountPath": "kubernetes", "role": "r"}}},
        carries_the_jwt,
    ),
    "vault-iam": Way(
        "vault",
        {"server": "URL", "auth": {"iam": {"vaultRole": "r", "vaultAwsIamServerID": "vault.example"}}},
        is_signed_by_the_daemon,
    ),
    "vault-gcp": Way("vault", {"server": "URL", "auth": {"gcp": {"role": "r"}}}),
    "infisical-kubernetes": Way("infisical", infisical("kubernetesAuthCredentials"), carries_the_jwt),
    "infisical-aws": Way("infisical", infisical("awsAuthCredentials"), is_signed_for_infisical),
    "infisical-azure": Way("infisical", infisical("azureAuthCredentials", resource="resource")),
    "infisical-google": Way("infisical", infisical("gcpIdTokenAuthCredentials")),
}
"""The first seven were found before there was a door: they all led out."""


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


@pytest.fixture
async def foreign() -> AsyncIterator[Recorder]:
    async with foreign_server() as recorder:
        yield recorder


@pytest.fixture
async def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Recorder]:
    """The daemon runs in a pod of every cloud at once: its metadata servers, and its mounted tokens."""
    for file in MOUNTED:
        (tmp_path / file).write_text(JWT)
    async with machine() as recorder:
        address = recorder.url.partition("://")[2]
        for name, value in {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{recorder.url}/v1/credentials",
            "AWS_REGION": "eu-west-1",
            "AZURE_CLIENT_ID": "client",
            "AZURE_FEDERATED_TOKEN_FILE": str(tmp_path / "token"),
            "AZURE_POD_IDENTITY_AUTHORITY_HOST": recorder.url,
            "AZURE_TENANT_ID": "tenant",
            "GCE_METADATA_HOST": address,
        }.items():
            monkeypatch.setenv(name, value)
        for name in (
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "VAULT_ADDR",
        ):
            monkeypatch.delenv(name, raising=False)
        yield recorder


async def use(way: Way, url: str, door: Door, tmp_path: Path, scope: Scope = OWN_NAMESPACE) -> None:
    """Do what a store or generator would have the daemon do with its identity. Raises SyncError."""
    text = json.dumps(way.spec)
    for placeholder, value in {
        "URL": url,
        "HOST": url.partition("://")[2],
        "TOKEN": str(tmp_path / "container-token"),
    }.items():
        text = text.replace(f'"{placeholder}"', json.dumps(value))
    given, registry = context(Given(secrets={"login": LOGIN}), door=door, scope=scope), Registry()
    if way.provider in registry.store_names():
        provider = registry.provider(way.provider)
        assert provider.open is not None
        async with provider.open(msgspec.json.decode(text, type=provider.spec.model), given) as client:
            if isinstance(client, Reader):
                await client.fetch([RemoteKey("key")])
        return
    generator = registry.generator_type(way.provider)
    assert generator.generate is not None
    await generator.generate(msgspec.json.decode(text, type=generator.spec.model), given)


@pytest.fixture
def manifest(way: Way, tmp_path: Path) -> Path:
    """The way as a manifest in a namespace, to a server https://evil.example."""
    provider = {"provider": {way.provider: way.spec}}
    is_store = way.provider in Registry().store_names()
    document = {
        "apiVersion": "external-secrets.io/v1" if is_store else "generators.external-secrets.io/v1alpha1",
        "kind": "SecretStore" if is_store else way.provider,
        "metadata": {"name": "evil", "namespace": "tenant"},
        "spec": provider if is_store else way.spec,
    }
    text = json.dumps(document, indent=1).replace("URL", EVIL).replace("HOST", EVIL.partition("://")[2])
    (tmp_path / "evil.yaml").write_text(text.replace("TOKEN", "/var/run/secrets/tokens/t"))
    return tmp_path / "evil.yaml"


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_validate_says_where_it_would_go(
    manifest: Path, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["validate", "-f", str(manifest), "--set", f"ownIdentity.mode={mode}"])
    severity = "error" if mode == "strict" else "information"
    lines = [line for line in capsys.readouterr().out.splitlines() if f": {severity}: " in line]
    assert lines
    assert code == (2 if mode == "strict" else 0)
    for line in lines:
        assert line.startswith(f"{manifest}:")
        assert EVIL in line
        assert "allow it with ownIdentity.receivers." in line


def test_validate_says_which_line_allows_it(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = f"[{{url: '{EVIL}', stores: all, serverId: vault.example}}]"
    names = ("azurekv", "ibm", "infisical", "vault")
    allowed = [word for name in names for word in ("--set", f"ownIdentity.receivers.{name}={entries}")]
    command = ["validate", "-f", str(manifest), "--set", "ownIdentity.mode=strict", *allowed, "-o", "json"]
    assert main(command) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    messages = [problem["message"] for problem in item["problems"]]
    assert set(messages) <= {"Secret/tenant/login is not among the given files"}
    for receiver in item["receivers"]:
        assert receiver["allowed"]
        assert receiver["line"] > 1
        assert (
            receiver["by"].startswith("ownIdentity.receivers.") or receiver["by"] == "the cloud's own server"
        )


async def test_strict_rules_refuse_before_anything_is_fetched(
    way: Way, foreign: Recorder, own: Recorder, tmp_path: Path
) -> None:
    door = door_of(OwnIdentity(), strict=True, mount=tmp_path)
    for file in MOUNTED:
        (tmp_path / file).unlink()  # to read one would be another error

    with pytest.raises(Denied, match="must not be sent to") as caught:
        await use(way, foreign.url, door, tmp_path, CLUSTER)
    assert "ownIdentity.receivers." in caught.value.hint
    assert own.received == []
    assert foreign.received == []


@pytest.mark.parametrize("how", ["open", "written"])
@pytest.mark.parametrize("name", [name for name in WAYS if name != "acr"])  # which speaks TLS only
async def test_what_is_allowed_goes(
    name: str, how: str, foreign: Recorder, own: Recorder, tmp_path: Path
) -> None:
    """Open rules log it once for each store and server; a server that is written down is nothing to log."""
    logged: list[tuple[ObjectRef, Verdict]] = []
    written = OwnReceiver(url=foreign.url, stores="all", server_id="vault.example")
    own_identity = OwnIdentity(
        receivers={} if how == "open" else dict.fromkeys(("azurekv", "ibm", "infisical", "vault"), (written,))
    )
    door = door_of(
        own_identity,
        strict=how == "written",
        mount=tmp_path,
        on_unlisted=lambda store, verdict: logged.append((store, verdict)),
    )
    for _ in range(2):
        with suppress(SyncError):  # it refuses every login
            await use(WAYS[name], foreign.url, door, tmp_path)
    assert any(WAYS[name].proof(text) for text in foreign.received)
    assert [verdict.server for _, verdict in logged] == ([foreign.url] if how == "open" else [])


async def test_a_namespaced_store_does_not_ride_on_what_is_written_for_cluster_stores(
    way: Way, foreign: Recorder, own: Recorder, tmp_path: Path
) -> None:
    receivers: dict[str, Any] = {"azurekv": [foreign.url, foreign.url.replace("http:", "https:")]}
    receivers |= {"ibm": [foreign.url], "infisical": [foreign.url]}
    receivers |= {"vault": [OwnReceiver(url=foreign.url, server_id="vault.example")]}
    door = door_of(OwnIdentity(receivers=receivers), strict=True, mount=tmp_path)
    with pytest.raises(Denied, match="only cluster-scoped stores") as caught:
        await use(way, foreign.url, door, tmp_path)
    assert "stores: all" in caught.value.hint
    assert own.received == []


async def test_an_address_in_the_environment_is_written_down(
    foreign: Recorder, own: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_ADDR", foreign.url)
    door = door_of(OwnIdentity(), strict=True, mount=tmp_path)
    with pytest.raises(Denied, match="Vault refuses it"):
        await use(WAYS["vault-kubernetes"], foreign.url, door, tmp_path, CLUSTER)
    assert any(carries_the_jwt(text) for text in foreign.received)


BUILT_IN = {
    "aws": Way("aws", {"service": "SecretsManager", "region": "eu-west-1"}),
    "gcpsm": Way("gcpsm", {"projectID": "acme"}),
    "GCRAccessToken": Way("GCRAccessToken", {"projectID": "acme", "auth": {}}),
}


@pytest.mark.parametrize("name", BUILT_IN)
async def test_the_clouds_own_servers_need_no_setting(
    name: str, foreign: Recorder, own: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the daemon's environment says that the cloud's own server is elsewhere."""
    monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", foreign.url)
    monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER", foreign.url)
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    logged: list[Verdict] = []
    for strict in (True, False):
        door = door_of(
            OwnIdentity(), strict=strict, on_unlisted=lambda _store, verdict: logged.append(verdict)
        )
        own.received.clear()
        with suppress(SyncError):  # some get as far as a server, which refuses them
            await use(BUILT_IN[name], "", door, tmp_path)
        assert own.has("GET ")
    assert logged == []


@pytest.mark.parametrize("name", BUILT_IN)
async def test_the_clouds_own_servers_may_be_kept_to_cluster_stores(
    name: str, own: Recorder, tmp_path: Path
) -> None:
    door = door_of(OwnIdentity(cluster_only=("aws", "gcpsm")))
    with pytest.raises(Denied, match="only cluster-scoped stores") as caught:
        await use(BUILT_IN[name], "", door, tmp_path)
    assert "ownIdentity.clusterOnly" in caught.value.hint
    assert own.received == []
