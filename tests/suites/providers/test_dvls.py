"""Devolutions Server passes the suite, on a server that its published client works with."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.errors import Denied, Malformed
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, item, read, writer
from syncret.providers.values import RemoteRef
from tests.suites.providers.rest_harness import RestHarness
from tests.support.servers.dvls.server import VAULT, Dvls
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

KINDS = "an entry has the fields of its kind, which tests below look at"
NO_FIND = "as ESO has it, entries are not searched"


class DvlsHarness(RestHarness[Dvls]):
    """The text of an entry is its password."""

    provider = "dvls"
    vault = "Shop"
    lacks: Mapping[Ability, str] = {
        Ability.PROPERTY: KINDS,
        Ability.MAP: KINDS,
        Ability.PUSH_PROPERTY: KINDS,
        Ability.DELETE_PROPERTY: KINDS,
        Ability.VERSION: "entries have no versions",
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
        Ability.OWN: "as ESO has it, entries get no mark",
    }

    def __init__(self, server: Dvls) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"id": b"shop", "secret": server.secret.encode()}

    def spec(self) -> Document:
        login = {"appId": {"name": "login", "key": "id"}, "appSecret": {"name": "login", "key": "secret"}}
        vault = {"vault": self.vault} if self.vault else {}
        return {"serverUrl": self.server.url, "insecure": True, **vault, "auth": {"secretRef": login}}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.secret, self.server.token)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, password=entry.value.decode())

    async def stored(self, key: str) -> bytes | None:
        held = [each for each in self.server.entries.values() if each["name"] == key]
        return held[0]["data"]["password"].encode() if held else None

    async def rotate(self) -> None:
        self.server.secret, self.server.token = "canary-secret-2", "none"
        self.given.secrets["login"] = {"id": b"shop", "secret": self.server.secret.encode()}


class TestDvls(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Dvls()) as server:
            yield DvlsHarness(server)


async def test_fields_of_a_kind() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        id_ = server.add("mail", "shop\\prod", "ApiKey", apiId="7", apiKey="k")
        key = await read(client, RemoteRef("shop/prod/mail", "api-key"))
        every = await fields(client, RemoteRef(id_))
        with pytest.raises(Malformed, match="no field 'password'"):
            await read(client, RemoteRef("mail"))

    assert key == b"k"
    assert {name: value.raw.decode() for name, value in (every or {}).items()} == {
        "entry-id": id_,
        "entry-name": "mail",
        "api-id": "7",
        "api-key": "k",
    }


async def test_fields_are_pushed_side_by_side() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        target = writer(client)
        await target.push(item("shop/db", b"ada", "username"))
        await target.push(item("shop/db", b"pw"))
        [entry] = server.entries.values()
        held = dict(entry["data"])
        await target.delete(RemoteTarget("shop/db", "password"))
        rest = dict(entry["data"])
        await target.delete(RemoteTarget("shop/db", "username"))
        with pytest.raises(Malformed, match="has no field 'port'"):
            await target.push(item("db2", b"1", "port"))

    assert (entry["path"], held) == ("shop", {"username": "ada", "password": "pw"})
    assert rest == {"username": "ada", "password": ""}
    assert server.entries == {}


async def test_two_entries_of_one_name() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        ids = [server.add("db", path, password="x") for path in ("a", "b")]
        with pytest.raises(Malformed, match="found 2 entries named 'db'") as caught:
            await read(client, RemoteRef("db"))

    assert all(id_ in caught.value.hint for id_ in ids)


async def test_keys_without_a_vault() -> None:
    class Everywhere(DvlsHarness):
        vault = ""

    other = "7" * 8 + VAULT[8:]
    async with running(Dvls()) as server, Everywhere(server).open() as client:
        id_ = server.add("db", password="pw")
        found = await read(client, RemoteRef(f"{VAULT}/{id_}"))
        absent = await read(client, RemoteRef(f"{VAULT}/{id_[:-1]}9"))
        with pytest.raises(Malformed, match=f"vault {other} does not exist"):
            await read(client, RemoteRef(f"{other}/{id_}"))
        with pytest.raises(Malformed, match="invalid key 'db'"):
            await read(client, RemoteRef("db"))

    assert (found, absent) == (b"pw", None)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("shop", b"pw", id="the folder itself"),
        pytest.param("shop\\eu", b"pw", id="a folder in it"),
        pytest.param("shopping", None, id="one that begins like it"),
    ],
)
async def test_an_entry_in_a_folder(path: str, expected: bytes | None) -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        server.add("db", path, password="pw")
        found = await read(client, RemoteRef("shop/db"))

    assert found == expected


async def test_a_push_leaves_the_folders_below_alone() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        theirs = server.entries[server.add("db", "shop\\eu", password="theirs")]
        before = dict(theirs)
        absent = await writer(client).exists(RemoteTarget("shop/db"))
        await writer(client).delete(RemoteTarget("shop/db"))
        await writer(client).push(item("shop/db", b"ours"))
        await writer(client).push(item("shop/db", b"changed"))
        found = await read(client, RemoteRef("shop/db"))
        there = await writer(client).exists(RemoteTarget("shop/db"))
        held = [(each["path"], each["data"]["password"]) for each in server.entries.values()]
        await writer(client).delete(RemoteTarget("shop/db"))

    assert (absent, there, found) == (False, True, b"changed")
    assert held == [("shop\\eu", "theirs"), ("shop", "changed")]
    assert list(server.entries.values()) == [before]


async def test_folders_have_names_too() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        server.add("db", kind="Folder/Folder")
        absent = await read(client, RemoteRef("db"))
        server.add("db", password="pw")
        found = await read(client, RemoteRef("db"))
        server.add("web", kind="Website/GoogleChrome")
        with pytest.raises(Malformed, match="it is no credential"):
            await read(client, RemoteRef("web"))

    assert (absent, found) == (None, b"pw")


@pytest.mark.parametrize("token", [None, "", "null"])
async def test_a_refused_login_with_status_200(token: str | None) -> None:
    async with running(Dvls()) as server:
        with (
            server.failing(lambda _request: web.json_response({"result": 2, "tokenId": token})),
            pytest.raises(Denied, match=r"the login is refused \(result 2\)"),
        ):
            async with DvlsHarness(server).open():
                pass


async def test_a_session_is_ended() -> None:
    async with running(Dvls()) as server:
        async with DvlsHarness(server).open() as client:
            await read(client, RemoteRef("db"))
            before = server.token
        after = server.token

    assert (before, after) == ("canary-token-1", "ended")


async def test_two_vaults_of_one_name() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        server.vaults.append({"id": "7" * 8, "name": "Shop"})
        with pytest.raises(Malformed, match="found 2 vaults named 'Shop'") as caught:
            await read(client, RemoteRef("db"))

    assert VAULT in caught.value.hint


async def test_a_push_keeps_what_it_does_not_set() -> None:
    async with running(Dvls()) as server, DvlsHarness(server).open() as client:
        id_ = server.add("db", "shop", username="ada", password="old")
        server.entries[id_]["description"] = "of the shop"
        before = {**server.entries[id_], "data": {"username": "ada", "password": "new"}}
        await writer(client).push(item("shop/db", b"new"))

    assert server.entries[id_] == before
