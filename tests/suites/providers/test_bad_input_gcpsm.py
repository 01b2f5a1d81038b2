"""What an operator reads when Google's store cannot be used: what is wrong, what to do, and no secret."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.daemon.one_pass import SyncResult
from tests.suites.providers.bad_answers import CANARY, missing_page, page
from tests.support.passes import external, login, passed, ready, store
from tests.support.servers.google.secrets import Secret
from tests.support.servers.google.server import Google, google
from tests.support.servers.google.variables import variables


@pytest.fixture
async def cloud(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    async with google() as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        name, config = "projects/123456789012/secrets/db", {"replication": {"automatic": dict[str, str]()}}
        cloud.manager.secrets[name] = Secret(name, 0, config)
        cloud.manager.secrets[name].add(CANARY.encode(), None, cloud.identity.now)
        yield cloud


async def synced(cloud: Google, folder: Path, key: bytes, **spec: Json) -> SyncResult:
    """One pass with an ExternalSecret that reads a property of `db`."""
    selector = {"secretAccessKeySecretRef": {"name": "login", "key": "key.json"}}
    gcpsm = {"projectID": "acme", "auth": {"secretRef": selector}, **spec}
    entry = {"secretKey": "k", "remoteRef": {"key": "db", "property": "a"}}
    private = json.loads(key).get("private_key", "")[100:160]
    return await passed(
        folder,
        login("key.json", key.decode()),
        store("gcpsm", gcpsm),
        external("es", data=[entry]),
        secrets=[secret for secret in (CANARY, *cloud.identity.tokens, private) if secret],
    )


def message_of(result: SyncResult, kind: str) -> str:
    return " ".join(text for ref, text in result.failures.items() if ref.kind == kind)


def unknown_token(_request: web.Request) -> web.StreamResponse:
    return web.json_response(
        {"error": {"code": 401, "message": CANARY, "status": "UNAUTHENTICATED"}}, status=401
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(None, "unable to unmarshal secret from JSON", id="a text where JSON is expected"),
        pytest.param(page, "the answer is HTML", id="HTML"),
        pytest.param(missing_page, "HTTP 404, but not from Google's API", id="an HTML page that is missing"),
        pytest.param(unknown_token, "the credentials are wrong or expired", id="a token that has expired"),
    ],
)
async def test_answers(
    cloud: Google,
    tmp_path: Path,
    answer: Callable[[web.Request], web.StreamResponse] | None,
    expected: str,
) -> None:
    key = cloud.identity.key_json(cloud.identity.account("app"))

    def fault(request: web.Request) -> web.StreamResponse | None:
        return answer(request) if answer and request.path.endswith(":access") else None

    with cloud.failing(fault):
        result = await synced(cloud, tmp_path, key)

    assert expected in message_of(result, "ExternalSecret")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
    assert ready(result, "SecretStore") == ("True", "Valid")


async def test_an_account_that_may_not(cloud: Google, tmp_path: Path) -> None:
    key = cloud.identity.key_json(cloud.identity.account("outsider", member=False))
    result = await synced(cloud, tmp_path, key)

    assert "permission denied" in message_of(result, "ExternalSecret")
    assert "roles/secretmanager.secretAccessor" in message_of(result, "ExternalSecret")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_key_that_is_gone(cloud: Google, tmp_path: Path) -> None:
    email = cloud.identity.account("app")
    key = cloud.identity.key_json(email)
    cloud.identity.disable_keys(email)
    result = await synced(cloud, tmp_path, key)

    assert "Google refuses the login (HTTP 400, invalid_grant)" in message_of(result, "SecretStore")
    assert ready(result, "SecretStore") == ("False", "InvalidProviderConfig")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_key_that_is_none(cloud: Google, tmp_path: Path) -> None:
    result = await synced(cloud, tmp_path, json.dumps({"type": CANARY}).encode())

    assert "holds no key file of a Google service account" in message_of(result, "SecretStore")
    assert ready(result, "SecretStore") == ("False", "InvalidProviderConfig")


async def test_a_region_that_does_not_exist(
    cloud: Google, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER")
    monkeypatch.setenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "google.invalid")
    key = cloud.identity.key_json(cloud.identity.account("app"))
    result = await synced(cloud, tmp_path, key, location="us-nowhere1")

    assert "is us-nowhere1 a location of Google?" in message_of(result, "ExternalSecret")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
