"""Passbolt passes the suite, on a server written from its published reference."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pysequoia
import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Finder
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.passbolt import openpgp
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, read
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import RestHarness, read_only
from tests.support.servers.passbolt.server import ACCOUNT, PASSPHRASE, Passbolt, id_of
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

FIELDS = "a resource has five fields, which a test below looks at"


class PassboltHarness(RestHarness[Passbolt]):
    """The text of an entry is the name of its resource, too, so that a whole value is told from another."""

    provider = "passbolt"
    lacks: Mapping[Ability, str] = {
        **read_only(
            "as ESO has it, the store is read only: what is pushed must be encrypted for all members"
        ),
        Ability.ABSENCE: "Passbolt does not list what is not shared, which must delete nothing",
        Ability.PROPERTY: FIELDS,
        Ability.MAP: FIELDS,
        Ability.VERSION: "resources have no versions",
        Ability.FIND_NAME: "what is found is called by its ID, which a test below looks at",
        Ability.FIND_PATH: "as ESO has it, resources are found by name alone",
        Ability.FIND_TAGS: "as ESO has it, resources are found by name alone",
        Ability.ROTATE: "the key of an account does not change",
    }

    def __init__(self, server: Passbolt) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"key": ACCOUNT, "passphrase": PASSPHRASE.encode()}

    def spec(self) -> Document:
        key = {"name": "login", "key": "key"}
        passphrase = {"name": "login", "key": "passphrase"}
        auth = {"privateKeySecretRef": key, "passwordSecretRef": passphrase}
        return {"host": self.server.url, "auth": auth}

    def key(self, name: str) -> str:
        return id_of(name)

    def whole(self, text: str) -> bytes:
        return _whole(password=text)

    @property
    def canaries(self) -> tuple[str, ...]:
        return (PASSPHRASE, self.server.token)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add("x", json.loads(entry.value)["password"])
            self.server.resources[entry.key] = {
                **self.server.resources.pop(id_of("x")),
                "id": entry.key,
                "name": "",
            }


def _whole(**given: str) -> bytes:
    names = ("name", "username", "password", "uri", "description")
    members = {name: given.get(name, "") for name in names}
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()


class TestPassbolt(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Passbolt()) as server:
            yield PassboltHarness(server)


async def test_kinds_of_resources() -> None:
    held = json.dumps({"password": "pw", "description": "of <the shop>"})
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        described = server.add("db", held, "password-and-description", username="ada", uri="db.internal")
        code = server.add("code", '{"totp": {}}', "totp", description="plain")
        newer = server.add("newer", "{}", "v6-default")
        bare = server.add("bare", "{}", "password-and-description")
        whole = await read(client, RemoteRef(described.upper()))
        every = await fields(client, RemoteRef(described))
        without = await read(client, RemoteRef(code))
        with pytest.raises(Malformed, match="of the kind v6-default"):
            await read(client, RemoteRef(newer))
        with pytest.raises(Malformed, match="its secret has no password"):
            await read(client, RemoteRef(bare))
        with pytest.raises(Malformed, match="property must be one of name, username, password"):
            await read(client, RemoteRef(described, "port"))

    given = {"name": "db", "username": "ada", "password": "pw", "uri": "db.internal"}
    assert whole == _whole(**given, description="of <the shop>")
    assert {name: value.raw.decode() for name, value in (every or {}).items()}["uri"] == "db.internal"
    assert without == _whole(name="code", description="plain")


async def test_what_is_found_is_called_by_its_id() -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        ids = [server.add(f"shop-{number}", str(number)) for number in range(25)]
        server.add("other", "x")
        server.calls.clear()
        assert isinstance(client, Finder)
        found = await client.find(FindQuery("^shop-"), unpaced, Work())
        with pytest.raises(Malformed, match=r"missing: find\.name\.regexp"):
            await client.find(FindQuery(), unpaced, Work())

    assert found is not None
    assert sorted(found) == sorted(ids)
    assert found[ids[3]].raw == _whole(name="shop-3", password="3")
    assert len(server.calls) == 3, "the list, and twenty resources in each call"


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        pytest.param(id_of("none"), "not shared with the account", id="absent"),
        pytest.param("database", "invalid key 'database'", id="no ID"),
        pytest.param(id_of("foreign"), "cannot be decrypted", id="for another key"),
    ],
)
async def test_keys_that_lead_nowhere(key: str, problem: str) -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        server.resources[server.add("foreign", "x")]["secrets"][0]["data"] = "no message"
        with pytest.raises(Malformed, match=problem):
            await read(client, RemoteRef(key))


async def test_only_tokens_are_decrypted_for_the_server() -> None:
    async with running(Passbolt()) as server:
        server.asked = "correct horse"
        with pytest.raises(Malformed, match="no token for this key"):
            async with PassboltHarness(server).open():
                pass

    assert server.logins == 0


@pytest.mark.parametrize("passphrase", ["", "one that the spec requires"])
def test_a_key_without_a_passphrase_is_unlocked_with_any(passphrase: str) -> None:
    private = pysequoia.Tsk.generate("ada@example.com")
    message = pysequoia.encrypt(b"token", [private.extract_certificate()]).decode()
    key = openpgp.unlocked(str(private).encode(), passphrase, Work())

    assert key is not None
    assert key.decrypted(message, Work()) == b"token"


@pytest.mark.parametrize("passphrase", ["", "wrong", f"{PASSPHRASE}\n"])
def test_a_key_with_a_passphrase_is_unlocked_with_that_alone(passphrase: str) -> None:
    assert openpgp.unlocked(ACCOUNT, passphrase, Work()) is None
    assert openpgp.unlocked(ACCOUNT, PASSPHRASE, Work()) is not None


def _nothing(_name: str) -> None:
    """No library is installed."""


async def test_logins_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(Passbolt()) as server:
        store = PassboltHarness(server)
        server.active = False
        with pytest.raises(Denied, match="the login is refused"):
            async with store.open():
                pass
        expired = str(pysequoia.Tsk.generate("ada@example.com", validity_seconds=1)).encode()
        for key in (ACCOUNT, expired):
            store.given.secrets["login"] = {"key": key, "passphrase": b"wrong"}
            with pytest.raises(Malformed, match="the private key cannot be unlocked") as caught:
                async with store.open():
                    pass
            assert "not expired" in caught.value.hint
        monkeypatch.setattr(openpgp, "find_spec", _nothing)
        with pytest.raises(Malformed, match="the library for OpenPGP is missing") as caught:
            async with store.open():
                pass

    assert "syncret[passbolt]" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        pytest.param("<html>", "the answer is HTML", id="a page"),
        pytest.param('{"a": []}', "JSON of another shape", id="another API"),
    ],
)
async def test_a_server_that_is_another(answer: str, problem: str) -> None:
    """The remedy is its address, and not the key."""
    async with running(Passbolt()) as server:
        with server.failing(lambda _request: web.Response(text=answer)), pytest.raises(Malformed) as caught:
            async with PassboltHarness(server).open():
                pass

    assert problem in str(caught.value)


async def test_sessions_are_renewed_and_ended() -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        id_ = server.add("a", "1")
        server.token = "expired"
        assert await read(client, RemoteRef(id_, "password")) == b"1"

    assert (server.logins, server.ended) == (2, ["canary-session-2"])


async def test_a_session_that_cannot_be_ended() -> None:
    """It ends by itself; what was read is not lost with it."""
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        found = await read(client, RemoteRef(server.add("a", "1"), "password"))
        server.csrf = ""

    assert (found, server.ended) == (b"1", [])
