"""What an operator reads when a store over HTTP cannot be used: what is wrong, what to do, and no secret."""

import json
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.one_pass import SyncResult
from tests.suites.providers.bad_answers import CANARY
from tests.support.passes import external, login, passed, ready, store
from tests.support.served import all_to, served
from tests.support.tls import Authority

TOKEN = "canary-token-77d0"
KEY = f"{CANARY[:6]}-key"


async def synced(
    spec: Json,
    folder: Path,
    *,
    provider: str = "webhook",
    extract: bool = False,
    key: str = KEY,
    held: tuple[str, str] = ("token", TOKEN),
) -> SyncResult:
    ref: Document = {"key": key, "property": "a"}
    entries: Document = {"dataFrom": [{"extract": ref}]}
    if not extract:
        entries = {"data": [{"secretKey": "k", "remoteRef": ref}]}
    return await passed(
        folder,
        login(*held, {"external-secrets.io/type": "webhook"}),
        store(provider, spec),
        external("es", **entries),
        secrets=(CANARY, TOKEN),
    )


def message_of(result: SyncResult, kind: str = "ExternalSecret") -> str:
    return " ".join(text for ref, text in result.failures.items() if ref.kind == kind)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        pytest.param(200, f"<html>{CANARY}", "the answer is HTML: does the URL lead to the API?", id="HTML"),
        pytest.param(200, f"\x00\x01{CANARY}", "the answer is not JSON", id="binary"),
        pytest.param(200, json.dumps({"b": CANARY}), 'property "a"', id="no such property"),
        pytest.param(200, json.dumps({"a": [CANARY]})[:-1], "failed to parse response json", id="cut off"),
        pytest.param(200, '{"a": "' + CANARY * 10**6 + '"}', "larger than", id="10 MB"),
        pytest.param(401, CANARY, "HTTP 401 Unauthorized (check the credentials in headers", id="expired"),
        pytest.param(403, CANARY, "HTTP 403 Forbidden (the credentials are known", id="denied"),
        pytest.param(429, CANARY, "syncret.dev/requests-per-second", id="throttled"),
        pytest.param(500, CANARY, "HTTP 500 Internal Server Error", id="broken"),
    ],
)
async def test_answers(tmp_path: Path, status: int, body: str, expected: str) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=body)

    async with served(all_to(answer)) as url:
        spec = {
            "url": f"{url}/{{{{ .remoteRef.key }}}}?token={{{{ .login.token }}}}",
            "headers": {"X-Token": "{{ .login.token }}"},
            "secrets": [{"name": "login", "secretRef": {"name": "login"}}],
            "result": {"jsonPath": "$.{{ .remoteRef.property }}"},
        }
        result = await synced(spec, tmp_path)

    assert expected in message_of(result)
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
    assert ready(result, "SecretStore") == ("True", "Valid")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("http://no-such-host.invalid/", "check the host", id="no such host"),
        pytest.param("http://127.0.0.1:1/", "127.0.0.1:1", id="no server listens"),
        pytest.param("secrets.example/path", "write it with https://", id="no scheme"),
        pytest.param("SERVER/{{ .login.token", "template of a request", id="no template"),
        pytest.param("SERVER/{{ fail .login.token }}", "template of a request", id="a template that fails"),
    ],
)
async def test_addresses(tmp_path: Path, url: str, expected: str) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        raise AssertionError("no call is possible")

    async with served(all_to(answer)) as server:
        secrets = [{"name": "login", "secretRef": {"name": "login"}}]
        result = await synced({"url": url.replace("SERVER", server), "secrets": secrets}, tmp_path)

    assert expected in message_of(result) + message_of(result, "SecretStore")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


@pytest.mark.parametrize("provider", ["kubernetes", "crd"])
@pytest.mark.parametrize(
    ("auth", "method", "field"),
    [
        pytest.param(
            {"auth": {"token": {"bearerToken": {"name": "login", "key": "token"}}}},
            "auth.token",
            "auth.token.bearerToken",
            id="token",
        ),
        pytest.param(
            {"authRef": {"name": "login", "key": "kubeconfig"}},
            "authRef",
            "the user of the kubeconfig in authRef",
            id="kubeconfig",
        ),
    ],
)
async def test_an_api_server_that_refuses_the_login(
    tmp_path: Path, provider: str, auth: dict[str, Json], method: str, field: str
) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "Status", "message": CANARY}, status=401)

    async with served(all_to(answer)) as url:
        kubeconfig = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": TOKEN}}],
        }
        spec: dict[str, Json] = {"server": {"url": url}, **auth}
        if provider == "crd":
            spec["resource"] = {"group": "example.com", "version": "v1", "kind": "Thing"}
        held = ("token", TOKEN) if "auth" in auth else ("kubeconfig", json.dumps(kubeconfig))
        result = await synced(spec, tmp_path, provider=provider, held=held)

    message = message_of(result, "SecretStore") + message_of(result)
    assert f"logging in by {method}: " in message
    assert "HTTP 401 Unauthorized" in message
    assert f"(check {field}: it is wrong or has expired)" in message


@pytest.mark.parametrize("provider", ["webhook", "kubernetes"])
async def test_a_wrong_authority(tmp_path: Path, provider: str) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=CANARY)

    async with served(all_to(answer), Authority().server(tmp_path)) as url:
        token = {"token": {"bearerToken": {"name": "login", "key": "token"}}}
        spec: dict[str, Json] = {
            "webhook": {"url": url},
            "kubernetes": {"server": {"url": url}, "auth": token},
        }
        result = await synced(spec[provider], tmp_path, provider=provider)

    assert "its certificate is not trusted (set caBundle or caProvider" in message_of(result) + message_of(
        result, "SecretStore"
    )
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_page_where_an_api_server_is_expected(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=f"<html>{CANARY}", content_type="text/html")

    async with served(all_to(answer)) as url:
        token = {"token": {"bearerToken": {"name": "login", "key": "token"}}}
        result = await synced({"server": {"url": url}, "auth": token}, tmp_path, provider="kubernetes")

    assert "the answer is HTML, not JSON" in message_of(result, "SecretStore")
    assert ready(result, "SecretStore") == ("False", "InvalidProviderConfig")
