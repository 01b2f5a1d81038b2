"""OpenStack Barbican passes the suite, on a server written from the published references."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from uuid import UUID

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, read, reader
from syncret.providers.values import RemoteKey, RemoteRef
from tests.suites.providers.rest_harness import RestHarness, read_only
from tests.support.opened import NOW
from tests.support.servers.barbican.server import Barbican
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


def id_of(name: str) -> str:
    """An ID as Barbican makes them."""
    return str(UUID(bytes=sha256(name.encode()).digest()[:16], version=4))


QUOTED = "as ESO has it, members stay JSON with their quotes, which a test below looks at"


class BarbicanHarness(RestHarness[Barbican]):
    provider = "barbican"
    region = "RegionOne"
    lacks: Mapping[Ability, str] = {
        **read_only("as ESO has it, the store is read only"),
        Ability.PROPERTY: QUOTED,
        Ability.MAP: QUOTED,
        Ability.VERSION: "secrets in Barbican never change",
        Ability.FIND_PATH: "secrets in Barbican have no path",
        Ability.FIND_TAGS: "as ESO has it, secrets in Barbican are found by name",
    }

    def __init__(self, server: Barbican) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"password": server.password.encode()}

    def spec(self) -> Document:
        password = {"secretRef": {"name": "login", "key": "password"}}
        place = {"tenantName": "shop", "domainName": "Default", "region": self.region}
        auth = {"username": {"value": "shop"}, "password": password}
        return {"authURL": f"{self.server.url}/identity", **place, "auth": auth}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.password, self.server.token)

    def key(self, name: str) -> str:
        """The ID of a secret with this name."""
        id_ = id_of(name)
        self.server.names[id_] = name
        return id_

    async def seed(self, *entries: Entry) -> None:
        self.server.secrets |= {entry.key: entry.value for entry in entries}

    async def stored(self, key: str) -> bytes | None:
        raise AssertionError(f"nothing is pushed: {key}")

    async def rotate(self) -> None:
        self.server.password, self.server.token = "canary-password-2", "none"
        self.given.secrets["login"] = {"password": self.server.password.encode()}


class TestBarbican(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Barbican(lambda: NOW)) as server:
            yield BarbicanHarness(server)


async def test_members_are_json() -> None:
    async with running(Barbican(lambda: NOW)) as server, BarbicanHarness(server).open() as client:
        server.secrets[id_of("db")] = b'{"user": "ada", "port": 5432}'
        user = await read(client, RemoteRef(f"{server.url}/key-manager/v1/secrets/{id_of('db')}", "user"))
        every = await fields(client, RemoteRef(id_of("db")))

    assert user == b'"ada"'
    assert {name: value.raw for name, value in (every or {}).items()} == {"user": b'"ada"', "port": b"5432"}


async def test_bytes() -> None:
    async with running(Barbican(lambda: NOW)) as server, BarbicanHarness(server).open() as client:
        server.secrets[id_of("key")] = b"\xff\x00"
        assert await read(client, RemoteRef(id_of("key"))) == b"\xff\x00"


async def test_what_is_no_id_and_what_has_no_payload_is_not_deleted() -> None:
    async with running(Barbican(lambda: NOW)) as server, BarbicanHarness(server).open() as client:
        server.secrets[id_of("empty")] = b""
        server.empty.add(id_of("empty"))
        with pytest.raises(Malformed, match="the key is no ID of a secret") as invalid:
            await read(client, RemoteRef("db"))
        with pytest.raises(Malformed, match="the secret has no payload") as empty:
            await read(client, RemoteRef(id_of("empty")))

    assert "write the UUID of the secret" in invalid.value.hint
    assert "store one" in empty.value.hint


async def test_a_token_that_was_revoked_is_renewed() -> None:
    async with running(Barbican(lambda: NOW)) as server, BarbicanHarness(server).open() as client:
        server.secrets[id_of("a")] = b"1"
        logins, server.token = server.logins, "revoked"
        assert set(await reader(client).fetch([RemoteKey(id_of("a"))])) == {RemoteKey(id_of("a"))}

    assert (logins, server.logins) == (1, 2)


async def test_a_region_without_barbican() -> None:
    class Elsewhere(BarbicanHarness):
        region = "RegionTwo"

    async with running(Barbican(lambda: NOW)) as server:
        with pytest.raises(Malformed, match="the catalog has no key manager in region RegionTwo"):
            async with Elsewhere(server).open():
                pass
