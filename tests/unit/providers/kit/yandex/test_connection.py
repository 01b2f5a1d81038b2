"""Logins, addresses and absence in Yandex Cloud, on a server written from its protocol files."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.config.settings import OwnIdentity
from syncret.providers.errors import Denied, Malformed
from syncret.providers.values import RemoteKey
from syncret.providers.yandexlockbox import PROVIDER, open_lockbox
from syncret.providers.yandexlockbox.client import LockboxClient
from tests.support.opened import NOW, Clock, Given, context, door_of
from tests.support.served import served
from tests.support.servers.rest import running
from tests.support.servers.yandex.server import Yandex
from tests.support.specs import spec_of
from tests.support.tls import Authority

AUTHORITY = Authority()
KEY = {"authorizedKeySecretRef": {"name": "login", "key": "key"}}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Yandex]:
    async with running(Yandex(lambda: NOW), AUTHORITY.server(tmp_path)) as server:
        server.secrets["e6q1"] = [{"user": "ada"}]
        yield server


def opened(
    server: Yandex,
    auth: Document,
    *,
    strict: bool = False,
    key: bytes = b"",
    clock: Clock | None = None,
) -> AbstractAsyncContextManager[LockboxClient]:
    given = Given(secrets={"login": {"key": key or server.key_file(), "ca.crt": AUTHORITY.pem}})
    ca = {"certSecretRef": {"name": "login", "key": "ca.crt"}}
    address = server.url.removeprefix("https://")
    spec = spec_of(PROVIDER, {"apiEndpoint": address, "auth": auth, "caProvider": ca})
    door = door_of(OwnIdentity(mode="open"), strict=strict)
    return open_lockbox(spec, context(given, door=door, now=clock or Clock()))


async def test_the_account_of_the_machine(server: Yandex, monkeypatch: pytest.MonkeyPatch) -> None:
    server.token = "t1.machine"
    async with served(server.metadata()) as metadata:
        monkeypatch.setenv("YC_METADATA_ADDR", metadata.removeprefix("http://"))
        async with opened(server, {}) as client:
            assert set(await client.fetch([RemoteKey("e6q1")])) == {RemoteKey("e6q1")}


async def test_the_machines_token_goes_to_known_servers_only(server: Yandex) -> None:
    with pytest.raises(Denied, match="a token of the machine's service account"):
        async with opened(server, {}, strict=True):
            pass


async def test_a_token_is_renewed_before_it_expires(server: Yandex) -> None:
    clock = Clock()
    async with opened(server, KEY, clock=clock) as client:
        await client.probe()
        clock.time += server.lifetime - 30
        server.now = clock
        await client.fetch([RemoteKey("e6q1")])

    assert server.logins == 2


async def test_a_key_that_was_deleted(server: Yandex) -> None:
    key, server.key = server.key_file(), "yandex-2"
    with pytest.raises(Denied, match="the login is refused") as caught:
        async with opened(server, KEY, key=key):
            pass

    assert "authorizedKeySecretRef" in caught.value.hint


async def test_a_secret_that_is_no_key(server: Yandex) -> None:
    with pytest.raises(Malformed, match="holds no authorized key"):
        async with opened(server, KEY, key=b'{"id": "a"}'):
            pass


async def test_a_path_that_the_gateway_does_not_know_is_no_absence(server: Yandex) -> None:
    def unknown(_request: web.Request) -> web.StreamResponse:
        return server.refusal(404, "Not Found").response()

    async with opened(server, KEY) as client:
        assert await client.fetch([RemoteKey("gone")]) == {}
        with server.failing(unknown):
            answers = await client.fetch([RemoteKey("e6q1")])

    assert isinstance(answers[RemoteKey("e6q1")], Malformed)
