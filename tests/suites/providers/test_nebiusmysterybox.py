"""Nebius MysteryBox passes the suite, on a gRPC server written from the protocol files."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.contract import Reader
from syncret.providers.errors import Denied, Malformed, Throttled
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, read
from syncret.providers.values import RemoteKey, RemoteRef
from tests.suites.providers.grpc_harness import GrpcHarness
from tests.suites.providers.rest_harness import HoldsFields, read_only, texts_of
from tests.support.opened import NOW
from tests.support.servers.grpc import Refused, grpc_running
from tests.support.servers.nebius.server import DOMAIN, HOSTS, Nebius
from tests.support.tls import Authority
from tests.support.tunnel import Tunnel, tunnel_to

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

NO_FIND = "a store names no project whose secrets could be listed"
AUTHORITY = Authority()


class NebiusHarness(HoldsFields, GrpcHarness):
    """Its server must be reached by a proxy, which leads all names there."""

    provider = "nebiusmysterybox"
    versions: tuple[str, str] = ("v1", "v2")
    lacks: Mapping[Ability, str] = {
        **read_only("as ESO has it, stores in Nebius are read only"),
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
    }

    def __init__(self, server: Nebius) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"key": server.key_file()}
        self.given.secrets["ca"] = {"ca.crt": AUTHORITY.pem}

    def spec(self) -> Document:
        return {
            "apiDomain": DOMAIN,
            "auth": {"serviceAccountCredsSecretRef": {"name": "login", "key": "key"}},
            "caProvider": {"certSecretRef": {"name": "ca", "key": "ca.crt"}},
        }

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.secrets.setdefault(entry.key, []).append({**texts_of(entry.value)})

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.token, "BEGIN PRIVATE KEY")

    async def rotate(self) -> None:
        self.server.key, self.server.token = "publickey-2", ""
        self.given.secrets["login"] = {"key": self.server.key_file()}


class ByToken(NebiusHarness):
    def spec(self) -> Document:
        self.given.secrets["login"] = {"token": f"{self.server.token}\n".encode()}
        return {**super().spec(), "auth": {"tokenSecretRef": {"name": "login", "key": "token"}}}


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[tuple[Nebius, Tunnel]]:
    server = Nebius(lambda: NOW)
    async with grpc_running(server, AUTHORITY.pair(",".join(HOSTS))), tunnel_to(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        yield server, proxy


class TestNebius(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(monkeypatch) as (server, _):
            yield NebiusHarness(server)


async def test_an_entry_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as (server, _), NebiusHarness(server).open() as client:
        server.secrets["s"] = [{"text": "ä", "bytes": b"\xff\x00"}]
        whole = await read(client, RemoteRef("s"))
        found = await fields(client, RemoteRef("s")) or {}
        one = await read(client, RemoteRef("s", "bytes"))

    assert whole == '{"bytes":"/wA=","text":"ä"}'.encode()
    assert {key: value.raw for key, value in found.items()} == {"text": "ä".encode(), "bytes": b"\xff\x00"}
    assert one == b"\xff\x00"


async def test_a_token_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as (server, _), ByToken(server).open() as client:
        server.secrets["s"] = [{"a": "1"}]
        found = await read(client, RemoteRef("s", "a"))
        server.token = "another"
        with pytest.raises(Denied, match="the credentials are wrong or expired"):
            await read(client, RemoteRef("s", "a"))

    assert (found, server.logins) == (b"1", 0)


async def test_a_key_that_was_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as (server, _):
        harness = NebiusHarness(server)
        server.key = "publickey-3"
        with pytest.raises(
            Denied, match="logging in with the service account's key: gRPC status UNAUTHENTICATED"
        ):
            async with harness.open():
                pass
        harness.given.secrets["login"] = {"key": b'{"subject-credentials": {}}'}
        with pytest.raises(Malformed, match="holds no credentials of a service account"):
            async with harness.open():
                pass


async def test_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as (server, _), NebiusHarness(server).open() as client:
        with server.failing(Refused("UNAVAILABLE", 30)), pytest.raises(Throttled) as raised:
            await read(client, RemoteRef("s"))

    assert raised.value.retry_after == 30


async def test_two_hundred_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no call for several; all are made on one connection."""
    async with served(monkeypatch) as (server, proxy), NebiusHarness(server).open() as client:
        server.secrets = {f"s-{number}": [{"a": "1"}] for number in range(200)}
        assert isinstance(client, Reader)
        found = [len(await client.fetch([RemoteKey(name)])) for name in server.secrets]

    assert (sum(found), len(server.calls)) == (200, 200)
    assert len(proxy.asked) == 2, "one for the login, one for all calls"
