"""Logins, entries and errors, on a server written from senhasegura's published pages."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from syncret.providers.errors import Denied, Malformed
from syncret.providers.senhasegura import PROVIDER
from syncret.providers.senhasegura.client import Entries, SenhaseguraClient
from syncret.providers.senhasegura.connection import open_store
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import Clock, Given, context
from tests.support.servers.rest import running
from tests.support.servers.senhasegura.server import Senhasegura
from tests.support.specs import spec_of


@pytest.fixture
async def server() -> AsyncIterator[Senhasegura]:
    async with running(Senhasegura()) as server:
        server.secrets["db"] = [{"user": "ada", "port": "1"}, {"user": "eve", "password": "<x>"}]
        yield server


def opened(
    server: Senhasegura, clock: Clock | None = None, secret: str = "", module: str = "DSM"
) -> AbstractAsyncContextManager[SenhaseguraClient]:
    given = Given(secrets={"login": {"secret": (secret or f"{server.secret}\n").encode()}})
    auth = {"clientId": "shop", "clientSecretSecretRef": {"name": "login", "key": "secret"}}
    spec = spec_of(PROVIDER, {"url": server.url, "module": module, "auth": auth})
    return open_store(spec, context(given, now=clock or Clock()))


async def test_entries(server: Senhasegura) -> None:
    async with opened(server) as client:
        [payload] = (await client.fetch([RemoteKey("db")])).values()
        assert isinstance(payload, Entries)
        whole = client.value(payload, RemoteRef("db"), Work())
        user = client.value(payload, RemoteRef("db", "user"), Work())
        absent = client.value(payload, RemoteRef("db", "absent"), Work())
        fields = client.fields(payload, RemoteRef("db"), Work())

    assert whole is not None
    assert whole.raw == b'[{"port":"1","user":"ada"},{"password":"\\u003cx\\u003e","user":"eve"}]'
    assert (user, absent) == (SecretBytes(b"ada"), None)
    assert fields is not None
    assert {name: value.raw for name, value in fields.items()} == {
        "user": b"eve",
        "port": b"1",
        "password": b"<x>",
    }


async def test_what_may_not_be_read_is_not_deleted(server: Senhasegura) -> None:
    """senhasegura leaves it out of the answer, as it does what does not exist."""
    server.secrets["empty"] = []
    keys = [RemoteKey(name) for name in ("db", "empty", "other")]
    async with opened(server) as client:
        before = await client.fetch(keys)
        del server.secrets["db"]
        after = await client.fetch(keys)

    assert [type(found) for found in before.values()] == [Entries, Entries, Malformed]
    assert [type(found) for found in after.values()] == [Malformed, Entries, Malformed]
    gone = after[keys[0]]
    assert isinstance(gone, Malformed)
    assert str(gone) == "there is no secret db, or the authorization may not read it"
    assert gone.hint == "check the key, and that the authorization has the secret"


async def test_one_call_for_all_and_a_login_an_hour(server: Senhasegura) -> None:
    clock = Clock()
    async with opened(server, clock) as client:
        await client.fetch([RemoteKey(f"k{number}") for number in range(200)])
        clock.time += 3600
        await client.probe()

    assert server.calls == ["GET /iso/dapp/application"] * 2
    assert server.logins == 2


async def test_a_wrong_secret(server: Senhasegura) -> None:
    with pytest.raises(Denied, match=r"the login is refused \(HTTP 401\)") as caught:
        async with opened(server, secret="wrong"):
            pass

    assert "clientSecretSecretRef" in caught.value.hint


async def test_an_error_with_status_200_is_no_absence(server: Senhasegura) -> None:
    server.error = True
    async with opened(server) as client:
        with pytest.raises(Denied, match="an error of its own"):
            await client.fetch([RemoteKey("db")])


async def test_another_module(server: Senhasegura) -> None:
    with pytest.raises(Malformed, match="module PAM of senhasegura is not supported"):
        async with opened(server, module="PAM"):
            pass
