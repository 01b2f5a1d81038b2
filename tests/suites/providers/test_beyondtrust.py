"""Password Safe passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import item, read, writer
from syncret.providers.values import RemoteRef
from tests.suites.providers.rest_harness import RestHarness, read_only
from tests.support.servers.beyondtrust.server import BASE, PasswordSafe
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

NO_FIND = "as ESO has it, nothing is searched"


class SafeHarness(RestHarness[PasswordSafe]):
    provider = "beyondtrust"
    kind = "SECRET"
    as_client = False
    options: Mapping[str, Json] = {}
    lacks: Mapping[Ability, str] = {
        Ability.ABSENCE: "Password Safe does not list what may not be seen, which must delete nothing",
        Ability.VERSION: "secrets have no versions",
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
        Ability.OWN: "as ESO has it, secrets get no mark",
    }

    def __init__(self, server: PasswordSafe) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"key": server.key.encode()}

    def auth(self) -> Document:
        secret = {"secretRef": {"name": "login", "key": "key"}}
        if not self.as_client:
            return {"apiKey": secret}
        return {"clientId": {"value": self.server.client}, "clientSecret": secret}

    def spec(self) -> Document:
        server = {"apiUrl": f"{self.server.url}{BASE}", "verifyCA": True, "retrievalType": self.kind}
        return {"auth": self.auth(), "server": {**server, **self.options}}

    def key(self, name: str) -> str:
        return f"shop/{name}"

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.key, self.server.token)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            folder, _, title = entry.key.rpartition("/")
            self.server.add(folder, title, entry.value.decode())

    async def stored(self, key: str) -> bytes | None:
        for held in self.server.secrets.values():
            if f"{held['FolderPath']}/{held['Title']}" == key:
                return str(held["Password"]).encode()
        return None

    async def rotate(self) -> None:
        self.server.key, self.server.token = "canary-key-2", "none"
        self.given.secrets["login"] = {"key": self.server.key.encode()}


class AccountsHarness(SafeHarness):
    kind = "MANAGED_ACCOUNT"
    as_client = True
    lacks: Mapping[Ability, str] = {
        **read_only("the passwords of managed accounts are changed by Password Safe itself"),
        Ability.ABSENCE: "Password Safe says not found of what may not be seen, which must delete nothing",
        Ability.VERSION: "the password of an account is read as it is now",
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
    }

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            system, _, account = entry.key.partition("/")
            self.server.accounts[system, account] = entry.value.decode()


class TestSecretsSafe(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(PasswordSafe()) as server:
            yield SafeHarness(server)


class TestManagedAccounts(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(PasswordSafe()) as server:
            yield AccountsHarness(server)


async def test_what_may_not_be_seen_is_not_deleted() -> None:
    """Password Safe leaves it out of the list, as it does what does not exist."""
    async with running(PasswordSafe()) as server, SafeHarness(server).open() as client:
        with pytest.raises(Malformed, match="no secret shop/a, or the user may not see it"):
            await read(client, RemoteRef("shop/a"))
        there = await writer(client).exists(RemoteTarget("shop/a"))
        await writer(client).delete(RemoteTarget("shop/a"))
        await writer(client).push(item("shop/a", b"one"))

    assert not there
    assert [each["Password"] for each in server.secrets.values()] == ["one"]


class Newer(SafeHarness):
    options: Mapping[str, Json] = {"apiVersion": "3.2"}


async def test_version_3_2_wraps_its_lists() -> None:
    async with running(PasswordSafe()) as server, Newer(server).open() as client:
        server.add("shop", "a", "one")
        assert await read(client, RemoteRef("shop/a")) == b"one"
        assert not await writer(client).exists(RemoteTarget("shop/b"))


class Encrypted(SafeHarness):
    options: Mapping[str, Json] = {"decrypt": False}


async def test_values_that_are_not_decrypted() -> None:
    async with running(PasswordSafe()) as server, Encrypted(server).open() as client:
        server.add("shop", "a", "one")
        with pytest.raises(Malformed, match="the answer has no value") as caught:
            await read(client, RemoteRef("shop/a"))

    assert "server.decrypt must be true" in caught.value.hint


async def test_a_folder_on_the_second_page() -> None:
    async with running(PasswordSafe()) as server, SafeHarness(server).open() as client:
        others: list[dict[str, Json]] = [{"Id": f"f{n}", "Name": f"f{n}"} for n in range(1000)]
        server.folders = [*others, *server.folders]
        await writer(client).push(item("shop/a", b"one"))

    assert [each["FolderPath"] for each in server.secrets.values()] == ["shop"]


async def test_files_are_downloaded_and_not_written() -> None:
    async with running(PasswordSafe()) as server, SafeHarness(server).open() as client:
        server.files[server.add("shop/prod", "cert", "", "File")] = b"\xff\x00"
        assert await read(client, RemoteRef("shop/prod/cert")) == b"\xff\x00"
        with pytest.raises(Malformed, match="it is a file"):
            await writer(client).push(item("shop/prod/cert", b"x"))


async def test_a_text_is_created_in_the_folder_of_the_path() -> None:
    kind = {"secret_type": "TEXT", "folder_name": "prod", "description": "of the shop"}
    async with running(PasswordSafe()) as server, SafeHarness(server).open() as client:
        await writer(client).push(replace(item("safe/shop/prod/note", b"one"), metadata=kind))
        [made] = server.secrets.values()
        held = (made["SecretType"], made["FolderPath"], made["Description"], made["Password"])
        await writer(client).push(item("shop/prod/note", b"two"))

    assert held == ("Text", "shop/prod", "of the shop", "one")
    assert made["Password"] == "two"
    assert any(call.startswith("PUT") and "/text" in call for call in server.calls)


@pytest.mark.parametrize(
    ("key", "metadata", "problem"),
    [
        pytest.param("elsewhere/a", None, "there is no folder elsewhere", id="no such folder"),
        pytest.param("x/shop/prod/a", None, "more than one folder", id="a safe that is not known"),
        pytest.param("shop/a", {"title": "b"}, "differs from remoteKey", id="another title"),
        pytest.param("shop/a", {"secret_typ": "TEXT"}, "secret_typ", id="an unknown field"),
        pytest.param("a", None, "invalid retrieval path 'a'", id="no folder"),
    ],
)
async def test_pushes_that_lead_nowhere(key: str, metadata: Document | None, problem: str) -> None:
    async with running(PasswordSafe()) as server, SafeHarness(server).open() as client:
        twin = {**server.folders[1], "Id": "twin"}
        server.folders = [*server.folders, twin]
        with pytest.raises(Malformed, match=problem):
            await writer(client).push(replace(item(key, b"x"), metadata=metadata))

    assert server.secrets == {}


async def test_what_was_requested_is_checked_in_also_if_reading_fails() -> None:
    async with running(PasswordSafe()) as server, AccountsHarness(server).open() as client:
        server.accounts["db", "root"] = "pw"
        found = await read(client, RemoteRef("db/root"))
        server.accounts["db", "root"] = 5  # type: ignore[assignment]  # an answer of another shape
        with pytest.raises(Malformed, match="reading the password of db/root"):
            await read(client, RemoteRef("db/root"))
        with pytest.raises(Malformed, match="invalid retrieval path 'root'"):
            await read(client, RemoteRef("root"))

    assert (found, server.requests, server.open_requests) == (b"pw", 2, {})


async def test_sessions_are_ended() -> None:
    async with running(PasswordSafe()) as server, SafeHarness(server).open():
        assert server.ended == []

    assert server.ended == ["canary-session-1"]
