"""What an operator reads when a store over gRPC cannot be used: what is wrong, what to do, and no secret."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from syncret.config.fields import Json
from syncret.daemon.one_pass import SyncResult
from tests.suites.providers.bad_answers import CANARY
from tests.suites.providers.test_bad_input import TOKEN, message_of, synced
from tests.support.passes import ready
from tests.support.servers.cloudru.server import PROJECT, CloudRu
from tests.support.servers.grpc import GrpcServer, Refused, grpc_running
from tests.support.servers.nebius.server import DOMAIN, HOSTS, Nebius
from tests.support.tls import Authority, trust
from tests.support.tunnel import tunnel_to

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

KEY: Final = "the-key"
AUTHORITY: Final = Authority()
_SELECTED: Final = {"name": "login", "key": "token"}


class Manager(NamedTuple):
    """A running server, and the spec of a store on it."""

    provider: str
    server: GrpcServer
    spec: Mapping[str, Json]


@pytest.fixture(params=["cloudrusm", "nebiusmysterybox"])
async def manager(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Manager]:
    trust(monkeypatch, AUTHORITY)
    server: CloudRu | Nebius
    auth: Mapping[str, Any]
    if request.param == "cloudrusm":
        server = CloudRu()
        server.key_id = server.secret = TOKEN
        server.add(KEY, CANARY.encode())
        auth = {"secretRef": {"accessKeyIDSecretRef": _SELECTED, "accessKeySecretSecretRef": _SELECTED}}
        spec: Mapping[str, Json] = {"projectID": PROJECT, "auth": auth}
    else:
        server = Nebius(lambda: 0.0)
        server.token = TOKEN
        server.secrets[KEY] = [{"b": CANARY}]
        spec = {"apiDomain": DOMAIN, "auth": {"tokenSecretRef": _SELECTED}}
    pair = AUTHORITY.pair(",".join(("127.0.0.1", *HOSTS)))
    async with grpc_running(server, pair), tunnel_to(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        for name in ("CLOUDRU_CSM_ADDRESS", "CLOUDRU_IAM_ADDRESS"):
            monkeypatch.setenv(name, f"127.0.0.1:{server.port}")
        yield Manager(request.param, server, spec)


async def read(manager: Manager, folder: Path, key: str = KEY) -> SyncResult:
    return await synced(dict(manager.spec), folder, provider=manager.provider, key=key)


def _said(result: SyncResult) -> str:
    return message_of(result) + message_of(result, "SecretStore")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(Refused("UNAUTHENTICATED"), "the credentials are wrong or expired", id="wrong"),
        pytest.param(Refused("RESOURCE_EXHAUSTED", 7), "syncret.dev/requests-per-second", id="throttled"),
        pytest.param(Refused("UNIMPLEMENTED"), "does the address lead to this API?", id="another API"),
        pytest.param(Refused("INVALID_ARGUMENT"), "check remoteRef", id="refused"),
        pytest.param(Refused("INTERNAL"), "gRPC status INTERNAL", id="broken"),
    ],
)
async def test_statuses(manager: Manager, tmp_path: Path, fault: Refused, expected: str) -> None:
    with manager.server.failing(fault):
        result = await read(manager, tmp_path)

    assert expected in _said(result)
    assert not [word for word in (CANARY, "words of the server") if word in _said(result)]
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_secret_that_may_not_be_read(manager: Manager, tmp_path: Path) -> None:
    manager.server.refused.add(KEY)
    result = await read(manager, tmp_path)

    assert "permission denied (give the " in _said(result)
    assert ready(result, "SecretStore")[0] == "True"


async def test_an_authority_that_is_not_known(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trust(monkeypatch)
    result = await read(manager, tmp_path)

    assert "its certificate is not trusted (set caBundle or caProvider" in _said(result)


async def test_a_property_that_is_not_there(manager: Manager, tmp_path: Path) -> None:
    if isinstance(manager.server, CloudRu):
        manager.server.add(KEY, json.dumps({"b": CANARY}).encode())
    result = await read(manager, tmp_path)

    assert ready(result, "ExternalSecret")[0] == "False"
    assert CANARY not in _said(result)


@pytest.mark.parametrize(
    "key", ["..", "../../v3/me", "a/b", "a b", "%2e%2e", "ä", "a?b=c", "a\nb", "x" * 5000]
)
async def test_names_are_names(manager: Manager, tmp_path: Path, key: str) -> None:
    """Whatever a key holds, the method that is called is the same."""
    result = await read(manager, tmp_path, key)

    assert ready(result, "ExternalSecret")[0] == "False"
    assert {*manager.server.calls} == {"Access" if manager.provider == "cloudrusm" else "Get"}
