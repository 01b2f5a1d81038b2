"""Resources of version 5 of Passbolt: their names are encrypted, for the account or for a shared key."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pysequoia
import pytest

from syncret.config.fields import Json
from syncret.providers.contract import Client, Finder, Reader
from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.kit.batching import unpaced
from syncret.providers.passbolt.openpgp import unlocked
from syncret.providers.testing import Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import read
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretMap
from syncret.providers.work import Work
from tests.suites.providers.test_passbolt import PassboltHarness
from tests.support.servers.passbolt.server import ACCOUNT, PASSPHRASE, Passbolt, id_of
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

KEYS = "/metadata/keys.json"
PASSWORD = {"object_type": "PASSBOLT_SECRET_DATA", "password": "pw"}
TOTP = {"totp": {"secret_key": "canary-totp", "digits": 6, "algorithm": "SHA1"}}
FIELD = {"id": id_of("field"), "type": "text"}


class EncryptedHarness(PassboltHarness):
    """The same entries in the format of version 5."""

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            secret = {"password": json.loads(entry.value)["password"]}
            made = self.server.add_encrypted("shared_key", {"name": ""}, secret)
            self.server.resources[entry.key] = {**self.server.resources.pop(made), "id": entry.key}


class TestEncryptedMetadata(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Passbolt()) as server:
            yield EncryptedHarness(server)


async def _find(client: Client, name: str) -> SecretMap | None:
    assert isinstance(client, Finder)
    return await client.find(FindQuery(name), unpaced, Work())


def _asked_for_keys(server: Passbolt) -> int:
    return sum(KEYS in call for call in server.calls)


@pytest.mark.parametrize("key_type", ["shared_key", "user_key"])
@pytest.mark.parametrize(
    ("kind", "metadata", "secret", "expected"),
    [
        pytest.param(
            "v5-default",
            {"username": "ada", "uris": ["https://db", "https://other"], "description": None},
            {**PASSWORD, "description": "of <the shop>"},
            {"username": "ada", "password": "pw", "uri": "https://db", "description": "of <the shop>"},
            id="default",
        ),
        pytest.param(
            "v5-default",
            {"uris": [], "description": "beside"},
            {**PASSWORD, "description": "in the secret"},
            {"password": "pw", "description": "beside"},
            id="two descriptions",
        ),
        pytest.param(
            "v5-default-with-totp",
            {"uris": [None, "x"], "icon": {}},
            {**PASSWORD, **TOTP},
            {"password": "pw"},
            id="default with code",
        ),
        pytest.param(
            "v5-default",
            {"uris": ["x"]},
            {"object_type": "PASSBOLT_SECRET_DATA", "password": None, "description": "only a note"},
            {"uri": "x", "description": "only a note"},
            id="default with null for a password",
        ),
        pytest.param(
            "v5-default-with-totp", {}, {**TOTP, "description": "n"}, {"description": "n"}, id="code alone"
        ),
        pytest.param(
            "v5-password-string", {"uris": None}, "a: {text}", {"password": "a: {text}"}, id="a text"
        ),
        pytest.param("v5-totp-standalone", {"uris": ["x"]}, TOTP, {"uri": "x"}, id="code"),
        pytest.param(
            "v5-custom-fields",
            {"description": "d", "custom_fields": [{**FIELD, "metadata_key": "k"}]},
            {"custom_fields": [{**FIELD, "secret_value": "v"}]},
            {"description": "d"},
            id="custom fields",
        ),
        pytest.param("v5-note", {}, {"description": "n"}, {"description": "n"}, id="note"),
        pytest.param("v5-pin-code", {}, {"pin_code": "1234"}, {}, id="PIN"),
    ],
)
async def test_resources_with_encrypted_metadata(
    key_type: str, kind: str, metadata: dict[str, Json], secret: Json, expected: dict[str, str]
) -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        id_ = server.add_encrypted(key_type, {"name": "db", **metadata}, secret, kind)
        whole = await read(client, RemoteRef(id_))
        found = await _find(client, "^db$")

    empty = {"username": "", "password": "", "uri": "", "description": ""}
    assert whole is not None
    assert json.loads(whole) == {"name": "db", **empty, **expected}
    assert found is not None
    assert {key: value.raw for key, value in found.items()} == {id_: whole}


async def test_names_of_all_formats_are_searched() -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        ids = [
            server.add("shop-1", "1"),
            server.add_encrypted("shared_key", {"name": "shop-2"}, PASSWORD),
            server.add_encrypted("user_key", {"name": "shop-3"}, PASSWORD),
        ]
        server.add_encrypted("shared_key", {"name": "other"}, "no JSON: it is not opened")
        found = await _find(client, "^shop-")
        again = await _find(client, "^shop-")

    assert found is not None
    assert sorted(found) == sorted(ids)
    assert again == found
    assert _asked_for_keys(server) == 1, "they are kept"


async def test_keys_for_metadata_are_kept_until_there_is_a_new_one() -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        own = server.add_encrypted("user_key", {"name": "own"}, PASSWORD)
        await read(client, RemoteRef(own))
        none = _asked_for_keys(server)
        old = server.add_encrypted("shared_key", {"name": "old"}, PASSWORD)
        names = [await read(client, RemoteRef(old, "name")) for _ in range(2)]
        first = _asked_for_keys(server)
        server.share(pysequoia.Tsk.from_bytes(ACCOUNT), PASSPHRASE)  # one with a passphrase
        new = server.add_encrypted("shared_key", {"name": "new"}, PASSWORD)
        names += [await read(client, RemoteRef(each, "name")) for each in (new, old)]

    assert names == [b"old", b"old", b"new", b"old"]
    assert (none, first, _asked_for_keys(server)) == (0, 1, 2)


def _garbled(server: Passbolt, id_: str) -> None:
    lines = server.resources[id_]["metadata"].split("\n")
    lines[4] = lines[4][::-1]
    server.resources[id_]["metadata"] = "\n".join(lines)


def _for_another(server: Passbolt, id_: str) -> None:
    stranger = pysequoia.Tsk.generate("stranger@example.com").extract_certificate()
    server.resources[id_]["metadata"] = server.encrypted('{"name": "canary-name"}', stranger)


def _no_json(server: Passbolt, id_: str) -> None:
    server.resources[id_]["metadata"] = server.encrypted("canary-name", server.shared)


def _nameless(server: Passbolt, id_: str) -> None:
    server.resources[id_]["metadata"] = server.encrypted('{"username": "canary-name"}', server.shared)


def _stripped(server: Passbolt, id_: str) -> None:
    del server.resources[id_]["metadata"]


def _not_shared(server: Passbolt, _id: str) -> None:
    server.keys[0]["metadata_private_keys"] = []


def _for_another_account(server: Passbolt, _id: str) -> None:
    stranger = pysequoia.Tsk.generate("stranger@example.com").extract_certificate()
    server.keys[0]["metadata_private_keys"][0]["data"] = server.encrypted("{}", stranger)


def _no_key(server: Passbolt, _id: str) -> None:
    private = json.dumps({"armored_key": "canary-key", "passphrase": ""})
    server.keys[0]["metadata_private_keys"][0]["data"] = server.encrypted(private)


def _deleted_key(server: Passbolt, _id: str) -> None:
    server.keys.clear()


def _unnamed_key(server: Passbolt, id_: str) -> None:
    del server.resources[id_]["metadata_key_id"]


@pytest.mark.parametrize(
    ("spoil", "problem", "remedy"),
    [
        pytest.param(
            _garbled, "its name among them, cannot be decrypted", "save the resource anew", id="tampered"
        ),
        pytest.param(
            _for_another,
            "its name among them, cannot be decrypted",
            "save the resource anew",
            id="for another key",
        ),
        pytest.param(_no_json, "its metadata are no JSON with a name", "save it anew", id="no JSON"),
        pytest.param(_nameless, "its metadata are no JSON with a name", "save it anew", id="without a name"),
        pytest.param(_stripped, "no name, and no encrypted metadata", "save it anew", id="without metadata"),
        pytest.param(
            _not_shared, "whose key the account cannot open", "share the missing", id="key not shared"
        ),
        pytest.param(
            _for_another_account,
            "whose key the account cannot open",
            "share the missing",
            id="key for another",
        ),
        pytest.param(_no_key, "whose key the account cannot open", "share the missing", id="damaged key"),
        pytest.param(
            _deleted_key, "whose key the account cannot open", "share the missing", id="no such key"
        ),
        pytest.param(
            _unnamed_key, "whose key the account cannot open", "share the missing", id="unnamed key"
        ),
    ],
)
async def test_a_name_that_cannot_be_read_is_no_absence(
    spoil: Callable[[Passbolt, str], None], problem: str, remedy: str
) -> None:
    """A search fails, as the name might match: what it had found before must not be deleted."""
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        bad = server.add_encrypted("shared_key", {"name": "canary-name"}, PASSWORD)
        good = server.add("good", "1")
        spoil(server, bad)
        with pytest.raises(Malformed, match=problem) as searched:
            await _find(client, "^good$")
        assert isinstance(client, Reader)
        fetched = await client.fetch([RemoteKey(bad), RemoteKey(good)])
        failed = fetched[RemoteKey(bad)]

    assert bad in str(searched.value)
    assert remedy in searched.value.hint
    assert isinstance(failed, Malformed)
    assert (str(failed), failed.hint) == (str(searched.value), searched.value.hint)
    assert "canary" not in f"{failed} {failed.hint}"
    assert client.value(fetched[RemoteKey(good)], RemoteRef(good, "password"), Work()) is not None


async def test_keys_that_are_refused_fail_the_resources_that_need_them() -> None:
    async with running(Passbolt()) as server, PassboltHarness(server).open() as client:
        needs = RemoteKey(server.add_encrypted("shared_key", {"name": "a"}, PASSWORD))
        own = RemoteKey(server.add_encrypted("user_key", {"name": "b"}, PASSWORD))
        server.keys[0]["id"] = None  # the answer is of another shape
        assert isinstance(client, Reader)
        fetched = await client.fetch([needs, own])
        with pytest.raises(Malformed, match="reading the keys of encrypted metadata"):
            await _find(client, "b")

    assert isinstance(fetched[needs], Malformed)
    assert not isinstance(fetched[own], Malformed)


def test_a_decryption_counts_as_work_for_what_it_makes() -> None:
    """A message of a few bytes may be compressed, and RSA takes longer than an elliptic curve."""
    spent: list[int] = []
    for suite in (pysequoia.CipherSuite.Cv25519, pysequoia.CipherSuite.RSA2k):
        private = pysequoia.Tsk.generate("a@example.com", cipher_suite=suite)
        key = unlocked(str(private).encode(), "", Work())
        assert key is not None
        message = pysequoia.encrypt(b"x" * 100_000, [private.extract_certificate()]).decode()
        work = Work()
        before = work.steps
        assert key.decrypted(message, work) == b"x" * 100_000
        spent.append(before - work.steps)
        with pytest.raises(OverBudget, match="workMemory"):
            key.decrypted(message, Work(memory=len(message) + 99_999))

    assert spent[0] < spent[1]
