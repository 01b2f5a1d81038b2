"""Servers that answer badly: what the condition of a store or object says, and that no secret is in it."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from syncret.config.fields import SecretKeySelector
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteRef, SecretBytes
from syncret.providers.vault.auth_spec import VaultAppRole, VaultAuth
from syncret.providers.vault.connection import open_store
from syncret.providers.vault.spec import VaultSpec
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.served import all_to, served

CANARY = "canary-9b1f4c"
TOKEN = "hvs.canary-token"
REF = SecretKeySelector(name="login", key="token")
AUTH = VaultAuth(token_secret_ref=REF)
Answer = Callable[[web.Request], web.Response]


def told(status: int = 200, headers: dict[str, str] | None = None, **document: Any) -> Answer:  # noqa: ANN401  # JSON
    return lambda _request: web.json_response(document, status=status, headers=headers)


def text(body: bytes, status: int = 200, kind: str = "text/html") -> Answer:
    return lambda _request: web.Response(body=body, status=status, content_type=kind)


class World:
    """A server with one answer to everything but the token's own calls."""

    def __init__(self) -> None:
        self.url = ""
        self.answer: Answer = told(data={"data": {"a": CANARY}, "metadata": {"version": 1}})
        self.requests: list[web.Request] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        if request.path.endswith("/lookup-self"):
            return web.json_response({"data": {}})
        return self.answer(request)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    async with served(all_to(made.handle)) as made.url:
        yield made


def given() -> Given:
    return Given(secrets={"login": {"token": TOKEN.encode()}})


async def read(world: World, name: str = "", **spec: Any) -> bytes | None:  # noqa: ANN401  # a table's columns
    ref = RemoteRef("db", name)
    store = replace(VaultSpec(server=world.url, path="kv", auth=AUTH), **spec)
    async with open_store(store, context(given())) as client:
        payload = (await client.fetch([ref.remote_key()])).get(ref.remote_key())
        if payload is None or isinstance(payload, SyncError):
            if payload is not None:
                raise payload
            return None
        found = client.value(payload, ref, Work())
        return None if found is None else found.raw


def spelled(error: SyncError) -> str:
    """Everything that somebody could print of it."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        parts.append(f"{seen!r} {seen} {vars(seen)}")
        seen = seen.__cause__ or seen.__context__
    return " ".join(parts)


@pytest.mark.parametrize(
    ("answer", "expected", "message"),
    [
        pytest.param(text(b"<html>canary-9b1f4c"), Malformed, "HTML, not JSON", id="a page"),
        pytest.param(text(b"<html>", status=404), Malformed, "HTML, not JSON", id="a page that is not there"),
        pytest.param(text(b"\x00\xff" + CANARY.encode()), Malformed, "HTML, not JSON", id="bytes as a page"),
        pytest.param(
            text(b'{"data": "canary-9b1f4c', kind="application/json"),
            Malformed,
            "not JSON",
            id="half a document",
        ),
        pytest.param(text(b"[1]", kind="application/json"), Malformed, "another shape", id="a list"),
        pytest.param(told(data={"a": CANARY}), Malformed, "data field", id="an engine of version 1"),
        pytest.param(told(data={"data": [CANARY]}), Malformed, "unmarshall JSON", id="a list for a value"),
        pytest.param(
            told(404, errors=["no handler for route"]), Malformed, "no engine is mounted", id="no mount"
        ),
        pytest.param(
            told(404, data=None, warnings=["Invalid path for a versioned K/V"]),
            Malformed,
            "another version",
            id="an engine of version 2",
        ),
        pytest.param(told(404, message="not found"), Malformed, "no Vault", id="another server"),
        pytest.param(told(403, errors=[CANARY]), Denied, "permission denied", id="denied"),
        pytest.param(told(400, errors=[CANARY]), Malformed, "HTTP 400", id="rejected"),
        pytest.param(told(405, errors=[CANARY]), Malformed, "does not support", id="no such operation"),
        pytest.param(told(412, errors=[CANARY]), Unavailable, "last write", id="a node that lags"),
        pytest.param(told(429, {"Retry-After": "7"}, errors=[CANARY]), Throttled, "429", id="throttled"),
        pytest.param(told(473, errors=[CANARY]), Unavailable, "standby", id="a standby"),
        pytest.param(told(500, errors=[CANARY]), Unavailable, "500", id="an error of the server"),
        pytest.param(told(503, errors=["sealed"]), Unavailable, "503", id="sealed"),
    ],
)
async def test_what_a_server_may_answer(
    world: World, answer: Answer, expected: type[SyncError], message: str
) -> None:
    world.answer = answer
    with pytest.raises(expected, match=message) as caught:
        await read(world)

    assert not [word for word in (CANARY, TOKEN) if word in spelled(caught.value)]
    if isinstance(caught.value, Throttled):
        assert caught.value.retry_after == 7


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(told(404, errors=[]), id="never there"),
        pytest.param(told(404, data={"data": None, "metadata": {"version": 3}}), id="deleted"),
        pytest.param(told(data={"data": None, "metadata": {"version": 3}}), id="an empty version"),
    ],
)
async def test_absence_is_what_vault_says_and_nothing_else(world: World, answer: Answer) -> None:
    world.answer = answer

    assert await read(world) is None


@pytest.mark.parametrize(
    ("spec", "expected", "message"),
    [
        pytest.param({"server": "vault.example:8200"}, Malformed, "URL", id="no scheme"),
        pytest.param(
            {"server": "http://127.0.0.1:1"}, Unavailable, "refuses connections", id="nobody listens"
        ),
        pytest.param({"server": "http://vault.invalid"}, Unavailable, "no address", id="no such host"),
        pytest.param({"ca_bundle": "%%%"}, Malformed, "ca", id="a bundle that is no base64"),
        pytest.param({"ca_bundle": "clé"}, Malformed, "ca bundle", id="a bundle that is no ASCII"),
        pytest.param({"ca_bundle": "Y2FuYXJ5"}, Malformed, "ca bundle", id="a bundle that is no PEM"),
        pytest.param({"auth": VaultAuth()}, Malformed, "no valid auth method", id="no login"),
        pytest.param(
            {"auth": VaultAuth(app_role=VaultAppRole(secret_ref=REF))}, Malformed, "roleRef", id="no role"
        ),
    ],
)
async def test_what_a_store_may_say(
    world: World, spec: dict[str, Any], expected: type[SyncError], message: str
) -> None:
    if "ca_bundle" in spec:
        spec = spec | {"server": world.url.replace("http:", "https:")}
    with pytest.raises(expected, match=f"(?i){message}") as caught:
        await read(world, **spec)

    assert TOKEN not in spelled(caught.value)
    assert caught.value.hint, "it says what to do"


@pytest.mark.parametrize("token", [b"", b"\xff\xfe", b"two\nlines", b"\x00"])
async def test_a_secret_that_holds_no_token_is_told(world: World, token: bytes) -> None:
    store = VaultSpec(server=world.url, path="kv", auth=AUTH)
    with pytest.raises(Malformed, match="no token"):
        async with open_store(store, context(Given(secrets={"login": {"token": token}}))):
            pass


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        pytest.param({}, "holds no token", id="none"),
        pytest.param({"mfa_requirement": {"id": "x"}}, "second factor", id="a second factor"),
    ],
)
async def test_a_login_without_a_token_is_told(world: World, auth: dict[str, Any], message: str) -> None:
    world.answer = told(auth=auth)
    method = VaultAuth(app_role=VaultAppRole(role_id="app", secret_ref=REF))
    with pytest.raises(SyncError, match=message):
        await read(world, auth=method)


async def test_large_values_are_read_up_to_a_bound(world: World) -> None:
    world.answer = told(data={"data": {"a": "x" * 5 * 2**20}})
    found = await read(world, "a")
    world.answer = told(data={"data": {"a": "x" * 9 * 2**20}})
    with pytest.raises(Malformed, match="larger than"):
        await read(world, "a")

    assert found is not None
    assert len(found) == 5 * 2**20


async def test_headers_namespaces_and_states_are_sent(world: World) -> None:
    state = "djE6YzoxOjA6bWFj"  # v1:c:1:0:mac
    world.answer = told(200, {"X-Vault-Index": state}, data={"data": {"a": "b"}})
    login = VaultAuth(token_secret_ref=REF, namespace="logins")
    spec = VaultSpec(
        server=world.url,
        path="kv",
        auth=login,
        namespace="team",
        headers={"X-Team": "a"},
        read_your_writes=True,
        forward_inconsistent=True,
    )
    async with open_store(spec, context(given())) as client:
        for _ in range(2):
            await client.fetch([RemoteRef("db").remote_key()])
        await client.probe()
    first, second, probe = (request.headers for request in world.requests)

    assert (first["X-Vault-Namespace"], probe["X-Vault-Namespace"]) == ("team", "logins")
    assert (first["X-Vault-Token"], first["X-Vault-Request"], first["X-Team"]) == (TOKEN, "true", "a")
    assert first["X-Vault-Inconsistent"] == "forward-active-node"
    assert ("X-Vault-Index" in first, second["X-Vault-Index"]) == (False, state)


async def test_a_write_in_between_is_tried_again_on_what_is_there_then(world: World) -> None:
    marked = {"custom_metadata": {"managed-by": "external-secrets"}}
    bodies: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if "/metadata/" in request.path:
            return web.json_response({"data": marked})
        if request.method == "GET":
            return web.json_response({"data": {"data": {"a": "1"}, "metadata": {"version": 4}}})
        bodies.append(await request.json())
        return web.json_response(
            {"errors": ["check-and-set parameter did not match the current version"]}, status=400
        )

    async with served(all_to(handle)) as url:
        spec = VaultSpec(server=url, path="kv", auth=AUTH)
        async with open_store(spec, context(given())) as client:
            with pytest.raises(Unavailable, match="newer version"):
                await client.push(PushItem("db", "b", SecretBytes(CANARY.encode())))

    assert bodies == [{"data": {"a": "1", "b": CANARY}, "options": {"cas": 4}}]


async def test_bytes_that_are_no_text_are_not_pushed(world: World) -> None:
    world.answer = told(404, errors=[])
    spec = VaultSpec(server=world.url, path="kv", auth=AUTH)
    async with open_store(spec, context(given())) as client:
        with pytest.raises(Malformed, match="UTF-8") as caught:
            await client.push(PushItem("db", "b", SecretBytes(b"\xff" + CANARY.encode())))

    assert CANARY not in spelled(caught.value)
    assert json.dumps([request.method for request in world.requests]) == '["GET"]'
