"""Bitwarden Secrets Manager passes the suite, on a server written from the SDK server's published code."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, finder, item, prober, read, reader, writer
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.bitwarden.server import ORGANIZATION, PROJECT, Bitwarden
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class BitwardenHarness(RestHarness[Bitwarden]):
    provider = "bitwardensecretsmanager"
    lacks: Mapping[Ability, str] = {
        Ability.ABSENCE: "Bitwarden does not list what may not be read, which must delete nothing",
        Ability.VERSION: "Bitwarden keeps one version of a secret",
        Ability.FIND_PATH: "secrets in Bitwarden have no paths",
        Ability.FIND_TAGS: "secrets in Bitwarden have no tags",
        Ability.OWN: "as ESO has it, secrets in Bitwarden get no mark",
        Ability.REFUSE_KEY: "what the machine account may not read is not in its list",
    }
    organization = ORGANIZATION

    def spec(self) -> Document:
        return {
            "bitwardenServerSDKURL": self.server.url,
            "apiURL": "https://api.bitwarden.eu/",
            "identityURL": "https://identity.bitwarden.eu",
            "organizationID": self.organization,
            "projectID": PROJECT,
            "auth": {"secretRef": {"credentials": LOGIN}},
        }

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, entry.value.decode())

    async def stored(self, key: str) -> bytes | None:
        found = [each["value"] for each in self.server.secrets.values() if each["key"] == key]
        return found[-1].encode() if found else None


class TestBitwardensecretsmanager(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Bitwarden()) as server:
            yield BitwardenHarness(server)


async def test_names_ids_and_projects() -> None:
    async with running(Bitwarden()) as server, BitwardenHarness(server).open() as client:
        server.add("db", "ours")
        other = server.add("db", "theirs", project="another")
        server.add("web", "1")
        server.add("web", "2")
        keys = ("db", other, other.upper(), other.replace("-", ""))
        found = [await read(client, RemoteRef(key)) for key in keys]
        with pytest.raises(Malformed, match="more than one secret"):
            await read(client, RemoteRef("web"))
        every = await finder(client).find(FindQuery(name="^db$"), unpaced, Work())

    assert found == [b"ours", b"theirs", b"theirs", b"theirs"]
    assert {id_: value.raw for id_, value in (every or {}).items()}[other] == b"theirs"


async def test_what_may_not_be_read_is_not_deleted() -> None:
    """Bitwarden leaves it out of the list, as it does what does not exist."""
    async with running(Bitwarden()) as server, BitwardenHarness(server).open() as client:
        id_ = server.add("db", "1")
        found = await reader(client).fetch([RemoteKey("db"), RemoteKey("gone"), RemoteKey(id_[:-1] + "9")])
        there = await writer(client).exists(RemoteTarget("gone"))
        await writer(client).delete(RemoteTarget("gone"))
        await writer(client).push(item("gone", b"2"))

    assert [type(each) for each in found.values()] == [SecretBytes, Malformed, Malformed]
    assert "no secret gone, or the machine account may not read it" in str(found[RemoteKey("gone")])
    assert not there
    assert [each["value"] for each in server.secrets.values()] == ["1", "2"]


async def test_yaml_means_what_it_means_to_the_operator() -> None:
    texts = {
        "block": "country: NO\non: 1\ny: yes\nid: 9007199254740993\nok: true\n",
        "flow": "{on: 1, y: 2}",
        "merged": "password: own\n<<: {password: default, user: ada}\n",
        "long": "id: 18446744073709551615\nin: {id: 18446744073709551615}\n",
    }
    async with running(Bitwarden()) as server, BitwardenHarness(server).open() as client:
        for name, text in texts.items():
            server.add(name, text)
        found = [await fields(client, RemoteRef(name)) or {} for name in texts]

    assert [{name: value.raw for name, value in each.items()} for each in found] == [
        {"country": b"NO", "on": b"1", "y": b"yes", "id": b"9007199254740993", "ok": b"true"},
        {"on": b"1", "y": b"2"},
        {"password": b"own", "user": b"ada"},
        {"id": b"18446744073709551615", "in": b'{"id":18446744073709551615}'},
    ]


async def test_yaml_is_a_map() -> None:
    async with running(Bitwarden()) as server, BitwardenHarness(server).open() as client:
        server.add("yaml", "user: ada\nport: 5432\nnested: {deep: x}\n")
        server.add("text", "just text")
        found = await fields(client, RemoteRef("yaml"))
        with pytest.raises(Malformed, match="neither a JSON nor a YAML object"):
            await fields(client, RemoteRef("text"))

    values = {name: value.raw for name, value in (found or {}).items()}
    assert values == {"user": b"ada", "port": b"5432", "nested": b'{"deep":"x"}'}


async def test_notes_and_ids_of_pushes() -> None:
    async with running(Bitwarden()) as server, BitwardenHarness(server).open() as client:
        noted = PushItem("db", "", SecretBytes(b"1"), {"note": "of the shop"}, "k")
        await writer(client).push(noted)
        await writer(client).push(noted)
        before = server.writes
        await writer(client).push(item("db", b"2"))
        [held] = server.secrets.values()
        await writer(client).push(item(held["id"], b"3"))
        with pytest.raises(Malformed, match="does not exist"):
            await writer(client).push(item(ORGANIZATION, b"4"))
        there = await writer(client).exists(RemoteTarget(held["id"]))

    assert (before, there, held["value"], held["note"], held["key"]) == (1, True, "3", "of the shop", "db")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("API error: Received error message from server: [429 Too Many Requests] {}", Throttled),
        ("API error: error sending request for url (https://api.bitwarden.eu)", Unavailable),
        ("failed to login to bitwarden using access token: API error", Denied),
        ("API error: Received error message from server: [403 Forbidden] canary-9", Denied),
        ("unexpected end of JSON input", Malformed),
    ],
)
async def test_what_the_sdk_server_says(words: str, error: type[SyncError]) -> None:
    async with running(Bitwarden()) as server, BitwardenHarness(server).open() as client:
        answer = server.failing(lambda _request: web.Response(status=400, text=words))
        with answer, pytest.raises(error) as caught:
            await prober(client).probe()

    assert "canary" not in str(caught.value)


async def test_an_organization_that_is_not_seen() -> None:
    class Elsewhere(BitwardenHarness):
        organization = PROJECT

    async with running(Bitwarden()) as server, Elsewhere(server).open() as client:
        with pytest.raises(Denied, match="permission denied"):
            await read(client, RemoteRef("db"))
