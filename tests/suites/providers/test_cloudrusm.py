"""Cloud.ru passes the suite, on a gRPC server written from the protocol files of its SDKs."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Client, Reader, Writer
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.grpc.channel import Channel
from syncret.providers.pushes import PushItem
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import finder, read
from syncret.providers.testing.finding import Senders
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.grpc_harness import GrpcHarness
from tests.support.served import all_to
from tests.support.served import served as http_served
from tests.support.servers.cloudru.server import PROJECT, CloudRu
from tests.support.servers.grpc import grpc_running
from tests.support.tls import Authority, trust

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

AUTHORITY = Authority()


class CloudRuHarness(GrpcHarness):
    """Its server must be where CLOUDRU_CSM_ADDRESS and CLOUDRU_IAM_ADDRESS say."""

    provider = "cloudrusm"
    versions: tuple[str, str] = ("1", "2")
    lacks: Mapping[Ability, str] = {Ability.OWN: "secrets of Cloud.ru get no mark"}

    def __init__(self, server: CloudRu) -> None:
        super().__init__(server)
        self._give()

    def _give(self) -> None:
        self.given.secrets["login"] = {
            "id": self.server.key_id.encode(),
            "secret": self.server.secret.encode(),
        }

    def spec(self) -> Document:
        fields = {"accessKeyIDSecretRef": "id", "accessKeySecretSecretRef": "secret"}
        ref = {field: {"name": "login", "key": key} for field, key in fields.items()}
        return {"projectID": PROJECT, "auth": {"secretRef": ref}}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.token, self.server.secret)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, entry.value, labels=dict(entry.tags))

    async def stored(self, key: str) -> bytes | None:
        held = self.server.secrets.get(key)
        return None if held is None else bytes(held.versions[-1])

    async def rotate(self) -> None:
        self.server.secret, self.server.token = "canary-secret-2", ""
        self._give()


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[CloudRu]:
    trust(monkeypatch, AUTHORITY)
    async with grpc_running(CloudRu(), AUTHORITY.pair()) as server:
        monkeypatch.setenv("CLOUDRU_CSM_ADDRESS", f"127.0.0.1:{server.port}")
        monkeypatch.setenv("CLOUDRU_IAM_ADDRESS", f"127.0.0.1:{server.port}")
        yield server


class TestCloudRu(ProviderSuite):
    senders: ClassVar[Senders] = ((Channel, "call"),)

    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(monkeypatch) as server:
            yield CloudRuHarness(server)


async def _tried(client: Client, refs: Iterable[RemoteRef]) -> list[bytes | None]:
    return [await read(client, ref) for ref in refs]


async def test_a_secret_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, CloudRuHarness(server).open() as client:
        server.add("shop/db", b"1")
        server.add("shop/db", b"2")
        key = server.id_of("shop/db")
        refs = [RemoteRef(key), RemoteRef(key, version="1"), RemoteRef(key, version="3")]
        found = await _tried(client, [*refs, RemoteRef("shop/db", version="latest")])
        assert isinstance(client, Writer)
        with pytest.raises(Malformed, match="pushed by path"):
            await client.push(PushItem(key, "", SecretBytes(b"3")))
        with pytest.raises(Malformed, match="invalid secret version"):
            await read(client, RemoteRef("shop/db", version="v1"))

    assert found == [b"2", b"1", None, b"2"]


async def test_bytes_are_pushed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, CloudRuHarness(server).open() as client:
        assert isinstance(client, Writer)
        for value in (b"\xff\x00", b""):
            await client.push(PushItem("shop/key", "", SecretBytes(value)))

    assert server.secrets["shop/key"].versions == [b"\xff\x00", b""]


async def test_a_search_names_something(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, CloudRuHarness(server).open() as client:
        with pytest.raises(Malformed, match="a search names nothing"):
            await finder(client).find(FindQuery(), unpaced, Work())


async def test_where_the_services_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        services = {"iam": address, **({"secret-manager": address} if complete else {})}
        return web.json_response({"endpoints": [{"id": id_, "address": at} for id_, at in services.items()]})

    complete = True
    async with served(monkeypatch) as server, http_served(all_to(answer)) as url:
        address = f"127.0.0.1:{server.port}"
        server.add("db", b"1")
        monkeypatch.delenv("CLOUDRU_CSM_ADDRESS")
        monkeypatch.setenv("CLOUDRU_DISCOVERY_URL", url)
        async with CloudRuHarness(server).open() as client:
            found = await read(client, RemoteRef("db"))
        complete = False
        with pytest.raises(Malformed, match="there is no service secret-manager"):
            async with CloudRuHarness(server).open():
                pass

    assert found == b"1"


async def test_an_access_key_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        harness = CloudRuHarness(server)
        server.secret = "another"
        with pytest.raises(Denied, match="logging in with the access key: gRPC status UNAUTHENTICATED"):
            async with harness.open():
                pass


async def test_two_hundred_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no call for several."""
    async with served(monkeypatch) as server, CloudRuHarness(server).open() as client:
        for number in range(200):
            server.add(f"s-{number}", b"1")
        assert isinstance(client, Reader)
        found = [len(await client.fetch([RemoteKey(name)])) for name in server.secrets]

    assert (sum(found), len(server.calls)) == (200, 200)
