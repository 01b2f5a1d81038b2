"""1Password with a service account passes the suite: the vendor's own SDK, on a server of its protocol."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Client, Finder, Keyed, Reader, Writer
from syncret.providers.errors import Denied, Malformed, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.push_options import API_VERSION, KIND
from syncret.providers.onepassword_sdk import sdk
from syncret.providers.onepassword_sdk.spec import BATCH
from syncret.providers.onepassword_sdk.vault import Vault
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import NOW, Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, item, read, writer
from syncret.providers.testing.finding import Senders
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.suites.providers.test_bad_input_rest import NAMES
from tests.suites.providers.test_onepassword import fields_of
from tests.support.servers.onepassword_service.server import OnePassword
from tests.support.servers.onepassword_service.trust import trusted
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class OnePasswordSdkHarness(RestHarness[OnePassword]):
    """As that of Connect: a value is the field `password`, an object is a field for each member."""

    provider = "onepasswordSDK"
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "the SDK reads items as they are now",
        Ability.OWN: "ESO marks nothing in 1Password",
        Ability.REFUSE_KEY: "one answer has several items, and rights are those of the vault",
    }

    def __init__(self, server: OnePassword) -> None:
        super().__init__(server)
        self.changes: Document = {}
        """What another spec has otherwise."""
        self._share_login()

    def _share_login(self) -> None:
        self.given.secrets["login"] = {"token": self.server.account_token.encode()}

    def spec(self) -> Document:
        return {"vault": "staging", "auth": {"serviceAccountSecretRef": LOGIN}, **self.changes}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.account_token, self.server.unlock.jwk["k"])

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            title, _, label = entry.key.partition("/")
            tags = [tag for tag, value in entry.tags.items() if value != "b"]
            self.server.add(title, *tags, **fields_of(entry, title, label))

    async def stored(self, key: str) -> bytes | None:
        found = self.server.fields(key)
        if not found:
            return None
        [held] = found
        return (held["password"] if held.keys() == {"password"} else json.dumps(held)).encode()

    async def writes(self) -> int:
        return sum(call.startswith("PATCH ") for call in self.server.calls)

    async def rotate(self) -> None:
        self.server.secret = b"another secret of the account"
        self.server.sessions.clear()
        self._share_login()


@pytest.fixture
async def onepassword(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[OnePassword]:
    async with running(OnePassword(), trusted(monkeypatch)) as server:
        yield server


class TestOnepasswordsdk(ProviderSuite):
    senders: ClassVar[Senders] = ((Vault, "summaries"), (Vault, "read"))

    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with running(OnePassword(), trusted(monkeypatch)) as server:
            yield OnePasswordSdkHarness(server)


async def test_references(onepassword: OnePassword) -> None:
    """Each is resolved by the SDK, all of one batch in three requests."""
    id_ = onepassword.add("db", **{"username": "ada", "Extra/token": "t-1"})
    onepassword.add("a/b", password="of a title with a slash")
    keys = ["db/username", f"{id_}/Extra/token", "db/none", "none/username", "a/b", "d b!/x"]
    async with OnePasswordSdkHarness(onepassword).open() as client:
        assert isinstance(client, Reader)
        onepassword.calls.clear()
        found = dict(await client.fetch([RemoteKey(key) for key in keys[:4]]))
        calls = len(onepassword.calls)
        found |= await client.fetch([RemoteKey(key) for key in keys[4:]])
        slash = await read(client, RemoteRef("a/b"))

    shown = {key.key: value.raw if isinstance(value, SecretBytes) else value for key, value in found.items()}
    assert (shown[keys[0]], shown[keys[1]], slash) == (b"ada", b"t-1", b"of a title with a slash")
    assert "there is no field as in 'db/none'" in str(shown[keys[2]])
    assert keys[3] not in shown
    assert "is no secret reference" in str(shown[keys[5]])
    assert calls == 4, "vaults, titles and items for all, and the titles again for what no item is"


async def test_names_stay_where_they_belong(onepassword: OnePassword) -> None:
    """Whatever a key holds, it is looked for among titles, and sent nowhere."""
    onepassword.add("shop", password="pw")
    keys = [RemoteKey(name) for name in (*NAMES, "", "/", "op://production/db/password", "a" * 26)]
    async with OnePasswordSdkHarness(onepassword).open() as client:
        assert isinstance(client, Reader)
        await client.fetch([RemoteKey("shop"), RemoteKey("shop/password")])
        known = set(onepassword.calls)
        found = await client.fetch(keys)

    assert not [key for key, each in found.items() if not isinstance(each, Malformed)]
    assert set(onepassword.calls) == known


async def test_two_hundred_items(onepassword: OnePassword) -> None:
    keys = [RemoteKey(f"k-{number}") for number in range(200)]
    for key in keys:
        onepassword.add(key.key, password="v")
    async with OnePasswordSdkHarness(onepassword).open() as client:
        assert isinstance(client, Reader)
        onepassword.calls.clear()
        for start in range(0, len(keys), BATCH):
            some = keys[start : start + BATCH]
            assert len(await client.fetch(some)) == len(some)

    assert len(onepassword.calls) == 2 * 4, "a list, and the items, for each fifty"


async def test_an_environment_has_variables(onepassword: OnePassword) -> None:
    onepassword.kind = "D"
    onepassword.add("variables", API_KEY="k-1", MODE="live")
    store = OnePasswordSdkHarness(onepassword)
    store.changes = {"vault": "", "environment": onepassword.vault.id}
    async with store.open() as client:
        value = await read_keyed(client, RemoteRef("API_KEY"))
        absent = await read_keyed(client, RemoteRef("NONE"))
        every = await fields_keyed(client, RemoteRef("whatever"))
        one = await fields_keyed(client, RemoteRef("whatever", "MODE"))
        assert isinstance(client, Finder)
        found = await client.find(FindQuery("KEY$"), unpaced, Work())
        assert not isinstance(client, Writer), "environments are read only"
        with pytest.raises(Malformed, match="have no versions"):
            await read(client, RemoteRef("API_KEY", version="2"))
        with pytest.raises(Malformed, match="no variable 'NONE'"):
            await fields_keyed(client, RemoteRef("x", "NONE"))
    onepassword.kind = "U"
    async with store.open() as client:
        with pytest.raises(Malformed, match="1Password has no such environment"):
            await read_keyed(client, RemoteRef("API_KEY"))

    assert (value, absent, found) == (b"k-1", None, {"API_KEY": SecretBytes(b"k-1")})
    assert (sorted(every), list(one)) == (["API_KEY", "MODE"], ["MODE"])


async def read_keyed(client: Client, ref: RemoteRef) -> bytes | None:
    """One value, by the client's own keys."""
    assert isinstance(client, Reader)
    assert isinstance(client, Keyed)
    payload = (await client.fetch([client.remote_key(ref)]))[client.remote_key(ref)]
    value = client.value(payload, ref, Work())
    return None if value is None else value.raw


async def fields_keyed(client: Client, ref: RemoteRef) -> SecretMap:
    assert isinstance(client, Reader)
    assert isinstance(client, Keyed)
    payload = (await client.fetch([client.remote_key(ref)]))[client.remote_key(ref)]
    return client.fields(payload, ref, Work()) or {}


async def test_files_and_documents(onepassword: OnePassword) -> None:
    id_ = onepassword.add("db", password="pw")
    onepassword.attach(id_, "ca.pem", b"-----BEGIN\xff")
    onepassword.add_document("licence", "licence.txt", b"for ada")
    async with OnePasswordSdkHarness(onepassword).open() as client:
        refs = ("db", "file/ca.pem"), ("licence", ""), ("licence", "licence.txt"), ("db", "password")
        found = [await read_keyed(client, RemoteRef(*ref)) for ref in refs]
        files = await fields_keyed(client, RemoteRef("licence"))
        whole = await fields_keyed(client, RemoteRef("db"))
        assert isinstance(client, Finder)
        searched = await client.find(FindQuery("ca|lic"), unpaced, Work())
        with pytest.raises(Malformed, match="no file 'none'"):
            await read_keyed(client, RemoteRef("db", "file/none"))
        await writer(client).delete(RemoteTarget("db"))
        still = await read_keyed(client, RemoteRef("db", "file/ca.pem"))

    assert (still, onepassword.fields("db")[0].get("password")) == (found[0], None), "the file alone is left"
    assert found == [b"-----BEGIN\xff", b"for ada", b"for ada", b"pw"]
    assert (list(files), list(whole), sorted(searched or {})) == (
        ["licence.txt"],
        ["password"],
        ["ca.pem", "licence.txt"],
    )


async def test_a_whole_secret_is_the_fields_of_an_item(onepassword: OnePassword) -> None:
    onepassword.add("shop", "old", token="t-0", stale="x")
    pushed = item("shop", b'{"token": "t-1", "user": "ada"}')
    metadata = {"apiVersion": API_VERSION, "kind": KIND, "spec": {"tags": ["new"], "fieldType": "text"}}
    async with OnePasswordSdkHarness(onepassword).open() as client:
        await writer(client).push(replace(pushed, metadata=metadata))
        writes = onepassword.version
        await writer(client).push(replace(pushed, metadata=metadata))
        with pytest.raises(Malformed, match="there is no 'otp'"):
            await writer(client).push(replace(pushed, metadata={**metadata, "spec": {"fieldType": "otp"}}))

    assert onepassword.fields("shop") == [{"token": "t-1", "user": "ada"}]
    assert (onepassword.tags("shop"), onepassword.version) == (["new"], writes)


async def test_titles_that_are_not_unique(onepassword: OnePassword) -> None:
    for value in ("one", "two"):
        onepassword.add("twice", password=value)
    async with OnePasswordSdkHarness(onepassword).open() as client:
        acts = (
            read(client, RemoteRef("twice")),
            writer(client).push(item("twice", b"x")),
            writer(client).delete(RemoteTarget("twice")),
        )
        for act in acts:
            with pytest.raises(Malformed, match="several items 'twice'"):
                await act
        with pytest.raises(Malformed, match="leads to a field"):
            await fields(client, RemoteRef(f"{next(iter(onepassword.items))}/password"))


async def test_what_is_kept(onepassword: OnePassword) -> None:
    """For as long as the spec says; a push forgets it."""
    onepassword.add("a", password="one")
    clock = [NOW]
    store = OnePasswordSdkHarness(onepassword)
    store.changes, store.now = {"cache": {"ttl": "10m"}}, lambda: clock[0]
    async with store.open() as client:
        first = await read(client, RemoteRef("a"))
        onepassword.items.clear()
        onepassword.add("a", password="two")
        kept = await read(client, RemoteRef("a"))
        clock[0] += 601
        anew = await read(client, RemoteRef("a"))
        await writer(client).push(item("a", b"three"))
        pushed = await read(client, RemoteRef("a"))

    assert (first, kept, anew, pushed) == (b"one", b"one", b"two", b"three")


async def test_an_item_that_could_not_be_read_is_not_absent(
    onepassword: OnePassword, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK returns what failed beside the other items, without saying which item it was."""
    for title in ("a", "b", "c"):
        onepassword.add(title, **{title: "1"})
    reason: dict[str, Any] = {"content": None, "error": {"type": "internal", "message": "canary"}}
    items, types = import_module("onepassword.items").Items, import_module("onepassword.types")
    real = items.get_all

    async def get_all(self: object, vault_id: str, item_ids: list[str]) -> object:
        answer = json.loads((await real(self, vault_id, item_ids)).model_dump_json(by_alias=True))
        answer["individualResponses"] = [
            reason if each["content"]["title"] == "b" else each for each in answer["individualResponses"]
        ]
        return types.ItemsGetAllResponse.model_validate(answer)

    monkeypatch.setattr(items, "get_all", get_all)
    keys = [RemoteKey(title) for title in ("a", "b", "c", "d")]
    async with OnePasswordSdkHarness(onepassword).open() as client:
        assert isinstance(client, Reader)
        found = await client.fetch(keys)
        reason["error"] = {"type": "itemNotFound"}
        gone = await client.fetch(keys)
        reason["error"] = {"type": "internal", "message": "canary"}
        assert isinstance(client, Finder)
        for act in (
            client.find(FindQuery(), unpaced, Work()),
            writer(client).push(item("b", b"x")),
            writer(client).delete(RemoteTarget("b")),
        ):
            with pytest.raises(Unavailable, match="1Password answers with an error"):
                await act

    assert isinstance(found[keys[1]], Unavailable)
    assert "canary" not in str(found)
    assert set(found) == set(keys[:3])
    assert set(gone) == {keys[0], keys[2]}
    assert onepassword.fields("b") == [{"b": "1"}]


@pytest.mark.parametrize(
    ("token", "kind", "problem"),
    [
        pytest.param("ops_e30", Malformed, "holds no token of a service account", id="without an address"),
        pytest.param("secret", Malformed, "holds no token of a service account", id="another text"),
        pytest.param(
            "ops_eyJzaWduSW5BZGRyZXNzIjogIjEyNy4wLjAuMSJ9",
            Denied,
            "the token is none of a service account",
            id="without keys",
        ),
    ],
)
async def test_tokens_that_are_none(
    onepassword: OnePassword, token: str, kind: type[Exception], problem: str
) -> None:
    store = OnePasswordSdkHarness(onepassword)
    store.given.secrets["login"] = {"token": token.encode()}
    with pytest.raises(kind, match=problem):
        async with store.open():
            pass


def _nothing(_name: str) -> None:
    """No library is installed."""


async def test_stores_that_cannot_be_opened(
    onepassword: OnePassword, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = OnePasswordSdkHarness(onepassword)
    store.changes = {"vault": "production"}
    with pytest.raises(Malformed, match="there is no vault production"):
        async with store.open():
            pass
    onepassword.secret = b"another"
    with pytest.raises(Denied, match="1Password refuses the service account"):
        async with store.open():
            pass
    monkeypatch.setattr(sdk, "find_spec", _nothing)
    with pytest.raises(Malformed, match="the SDK of 1Password is missing") as caught:
        async with store.open():
            pass

    assert "syncret[onepassword]" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "kind", "problem"),
    [
        pytest.param(web.Response(text="<html>"), Malformed, "the answer is not 1Password's", id="a page"),
        pytest.param(
            web.json_response({"a": 1}), Malformed, "the answer is not 1Password's", id="another API"
        ),
        pytest.param(web.Response(status=502), Unavailable, "answers with an error", id="broken"),
    ],
)
async def test_answers(
    onepassword: OnePassword, answer: web.Response, kind: type[Exception], problem: str
) -> None:
    async with OnePasswordSdkHarness(onepassword).open() as client:
        with onepassword.failing(lambda _request: answer), pytest.raises(kind, match=problem):
            await read(client, RemoteRef("a"))
