"""Keeper passes the suite, on a server written after what Keeper's own clients send and expect."""

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Finder, Keyed, Reader
from syncret.providers.errors import Denied, Malformed, Throttled
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, item, read, writer
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import RestHarness, read_only
from tests.support.servers.keeper.server import FOLDER, INNER, Device, Keeper, uid_of
from tests.support.servers.rest import Refused, running
from tests.support.tls import Authority, trust

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

AUTHORITY = Authority()

TITLES = "records are found by their titles, which the other suite looks at"


class KeeperHarness(RestHarness[Keeper]):
    """Records are read by their UIDs. The text of an entry is its password."""

    provider = "keepersecurity"
    lacks: Mapping[Ability, str] = {
        **read_only("records are pushed by their titles, which the other suite looks at"),
        Ability.ABSENCE: "Keeper does not list what is not shared, which must delete nothing",
        Ability.VERSION: "the API reads what a record holds now",
        Ability.FIND_NAME: TITLES,
        Ability.FIND_PATH: "as ESO has it, records are found by their titles alone",
        Ability.FIND_TAGS: "as ESO has it, records are found by their titles alone",
        Ability.REFUSE_KEY: "one answer has all records; one that is not shared is not in it",
    }
    by_title = False

    def __init__(self, server: Keeper) -> None:
        super().__init__(server)
        self.changes: Document = {}
        """What another spec has otherwise."""
        self._share_login()

    def _share_login(self) -> None:
        self.given.secrets["login"] = {"config": self.server.configuration()}

    def spec(self) -> Document:
        selected = {"name": "login", "key": "config"}
        return {"authRef": selected, "folderID": FOLDER, "getByTitleFallback": self.by_title, **self.changes}

    def key(self, name: str) -> str:
        return uid_of(name)

    def whole(self, text: str) -> bytes:
        return json.dumps(_login(text), separators=(",", ":"), ensure_ascii=False).encode()

    @property
    def canaries(self) -> tuple[str, ...]:
        device = json.loads(b64decode(self.server.configuration()))
        return (self.server.configuration().decode(), device["privateKey"], device["appKey"])

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, _record(json.loads(entry.value)))

    async def rotate(self) -> None:
        self.server.device = Device(2)
        self._share_login()


def _login(password: str) -> dict[str, Any]:
    usual = [{"type": "password", "value": [password]}]
    return {"title": "db", "type": "login", "fields": usual, "custom": None, "files": None}


def _record(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record as it is, or one with custom fields for the members of an object."""
    if "fields" in value:
        return {name: each for name, each in value.items() if each is not None}
    custom = [{"type": "text", "label": name, "value": [_held(each)]} for name, each in value.items()]
    return {"title": "db", "type": "login", "fields": [], "custom": custom}


def _held(value: object) -> object:
    return "" if value is None else value


class TitledHarness(KeeperHarness):
    """Records are pushed and found by their titles: a Secret's keys are fields."""

    by_title = True
    lacks: Mapping[Ability, str] = {
        Ability.READ: "what is read is the whole record, which the other suite looks at",
        Ability.FIND_PATH: "as ESO has it, records are found by their titles alone",
        Ability.FIND_TAGS: "as ESO has it, records are found by their titles alone",
    }

    def key(self, name: str) -> str:
        return name

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": text}, separators=(",", ":")).encode()

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            record = _record(json.loads(entry.value))
            self.server.add(uid_of(entry.key), {**record, "title": entry.key})

    async def stored(self, key: str) -> bytes | None:
        found = self.server.titled(key)
        if not found:
            return None
        [record] = found
        several = [*record.get("fields", ()), *record.get("custom", ())]
        held = {each.get("label") or each["type"]: each["value"][0] for each in several}
        return json.dumps(held, separators=(",", ":")).encode()


@asynccontextmanager
async def served(folder: Path, patch: pytest.MonkeyPatch) -> AsyncGenerator[Keeper]:
    """Keeper's servers are always reached by https."""
    trust(patch, AUTHORITY)
    async with running(Keeper(), AUTHORITY.server(folder)) as server:
        yield server


@pytest.fixture
async def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Keeper]:
    async with served(tmp_path, monkeypatch) as server:
        yield server


class TestKeepersecurity(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(tmp_path, monkeypatch) as server:
            yield KeeperHarness(server)


class TestTitles(ProviderSuite):
    def found(self, harness: Harness, text: str) -> bytes:
        """The whole record."""
        custom = [{"type": "text", "label": "value", "value": [text]}]
        record = {"title": harness.key(text), "type": "login", "fields": [], "custom": custom, "files": None}
        return json.dumps(record, separators=(",", ":")).encode()

    @pytest.fixture
    @asynccontextmanager
    async def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(tmp_path, monkeypatch) as server:
            yield TitledHarness(server)


DATABASE: Final[dict[str, Any]] = {
    "title": "database",
    "type": "login",
    "fields": [
        {"type": "login", "value": ["ada"]},
        {"type": "password", "label": "main", "value": ["correct horse"]},
        {"type": "url", "value": []},
        {"type": "oneTimeCode", "value": ["otpauth://x"]},
    ],
    "custom": [
        {"type": "host", "label": "Host", "value": [{"hostName": "db", "port": "5432"}]},
        {"type": "text", "label": "ports", "value": [1, 2.5]},
        {"type": "secret", "label": "login", "value": ["hidden by the usual field"]},
    ],
}


async def test_fields_and_files(keeper: Keeper) -> None:
    uid = uid_of("database")
    keeper.add(uid, DATABASE, in_folder=False)
    keeper.attach(uid, "ca.pem", b"-----BEGIN\xff")
    async with KeeperHarness(keeper).open() as client:
        refs = [RemoteRef(uid, name) for name in ("login", "main", "Host", "ports", "ca.pem")]
        assert isinstance(client, Reader)
        assert isinstance(client, Keyed)
        payloads = await client.fetch([client.remote_key(ref) for ref in refs])
        calls = list(keeper.calls)
        found = {ref.property: client.value(payloads[client.remote_key(ref)], ref, Work()) for ref in refs}
        whole = await read(client, RemoteRef(uid))
        for absent in ("password", "url", "oneTimeCode", "port"):
            with pytest.raises(Malformed, match=f"no field or file '{absent}'"):
                await read(client, RemoteRef(uid, absent))
        with pytest.raises(Malformed, match="several fields or files 'login'"):
            await fields(client, RemoteRef(uid))

    assert {name: None if value is None else value.raw for name, value in found.items()} == {
        "login": b"ada",
        "main": b"correct horse",
        "Host": b'{"hostName":"db","port":"5432"}',
        "ports": b"[1,2.5]",
        "ca.pem": b"-----BEGIN\xff",
    }
    assert calls == ["POST /api/rest/sm/v1/get_secret", "GET /files/0"], "one property is a file"
    assert whole is not None
    assert whole.endswith(
        b'"value":["hidden by the usual field"]}],"files":[{"type":"ca.pem","content":"-----BEGIN\\ufffd"}]}'
    )


async def test_a_map_has_fields_and_files(keeper: Keeper) -> None:
    keeper.add(uid_of("db"), _login("pw"))
    keeper.attach(uid_of("db"), "ca.pem", b"--")
    async with KeeperHarness(keeper).open() as client:
        every = await fields(client, RemoteRef(uid_of("db")))
        one = await fields(client, RemoteRef(uid_of("db"), "password"))

    assert {name: value.raw for name, value in (every or {}).items()} == {"password": b"pw", "ca.pem": b"--"}
    assert list(one or {}) == ["password"]


async def test_titles(keeper: Keeper) -> None:
    keeper.add(uid_of("a"), {**_login("one"), "title": "shop-a"})
    keeper.add(uid_of("b"), {**_login("two"), "title": "shop-b"}, in_folder=False)
    keeper.add(uid_of("c"), {**_login("three"), "title": "twice"})
    keeper.add(uid_of("d"), {**_login("four"), "title": "twice"})
    async with TitledHarness(keeper).open() as client:
        assert await read(client, RemoteRef("shop-b", "password")) == b"two"
        assert await read(client, RemoteRef(uid_of("a"), "password")) == b"one"
        assert isinstance(client, Finder)
        found = await client.find(FindQuery("^shop-"), unpaced, Work())
        with pytest.raises(Malformed, match="several records twice"):
            await read(client, RemoteRef("twice"))
        with pytest.raises(Malformed, match="several records twice"):
            await client.find(FindQuery("wice"), unpaced, Work())
        with pytest.raises(Malformed, match="by their titles alone"):
            await client.find(FindQuery("a", path="shop"), unpaced, Work())
    async with KeeperHarness(keeper).open() as client:
        with pytest.raises(Malformed, match="no record shop-b") as caught:
            await read(client, RemoteRef("shop-b"))

    assert {name: json.loads(value.raw)["fields"][0]["value"] for name, value in (found or {}).items()} == {
        "shop-a": ["one"],
        "shop-b": ["two"],
    }
    assert "getByTitleFallback" in caught.value.hint


async def test_pushes_as_the_operator_names_fields(keeper: Keeper) -> None:
    """`title/field`: a usual field for what is called like one, otherwise a custom one."""
    async with TitledHarness(keeper).open() as client:
        for field in ("Username", "DB_PASSWORD", "baseUrl", "token"):
            await writer(client).push(item(f"shop/{field}", field.encode()))
        await writer(client).delete(RemoteTarget("shop/password"))
        exists = [await writer(client).exists(RemoteTarget(f"shop/{name}")) for name in ("login", "password")]

    [record] = keeper.titled("shop")
    assert (record["type"], exists) == ("externalSecrets", [True, False])
    assert record["fields"] == [
        {"type": "login", "value": ["Username"]},
        {"type": "url", "value": ["baseUrl"]},
    ]
    assert record["custom"] == [{"type": "secret", "label": "token", "value": ["token"]}]


async def test_a_push_changes_nothing_else(keeper: Keeper) -> None:
    given: dict[str, Any] = {**DATABASE, "type": "externalSecrets", "notes": "by hand", "more": {"x": [1]}}
    keeper.add(uid_of("database"), given)
    async with TitledHarness(keeper).open() as client:
        await writer(client).push(item("database/ports", b"3"))

    changed = {**DATABASE["custom"][1], "value": ["3", 2.5]}
    assert keeper.data(uid_of("database")) == {
        **given,
        "custom": [given["custom"][0], changed, given["custom"][2]],
    }


async def test_a_folder_within_the_shared_one(keeper: Keeper) -> None:
    store = TitledHarness(keeper)
    store.changes = {"folderID": INNER}
    async with store.open() as client:
        await writer(client).push(item("shop/token", b"t"))

    [stored] = keeper.records.values()
    assert stored.inner == INNER


@pytest.mark.parametrize(
    ("spec", "key", "problem"),
    [
        pytest.param({}, "a/b/c", "invalid format 'a/b/c'", id="two slashes"),
        pytest.param({}, "a/", "invalid format 'a/'", id="no field"),
        pytest.param({}, "a", "'a' names no field", id="a title alone"),
        pytest.param({"folderID": uid_of("none")}, "a/b", "there is no folder", id="another folder"),
    ],
)
async def test_pushes_that_lead_nowhere(keeper: Keeper, spec: Document, key: str, problem: str) -> None:
    store = TitledHarness(keeper)
    store.changes = spec
    async with store.open() as client:
        with pytest.raises(Malformed, match=problem):
            await writer(client).push(item(key, b"x"))

    assert keeper.writes == 0


async def test_records_that_may_not_be_changed(keeper: Keeper) -> None:
    keeper.add(uid_of("a"), {"title": "a", "type": "externalSecrets", "fields": [], "custom": []})
    keeper.records[uid_of("a")].is_editable = False
    async with TitledHarness(keeper).open() as client:
        for act in (writer(client).push(item("a/b", b"x")), writer(client).delete(RemoteTarget("a"))):
            with pytest.raises(Denied, match="changing record a: permission denied"):
                await act


async def test_a_server_with_another_key(keeper: Keeper) -> None:
    keeper.add(uid_of("a"), _login("one"))
    keeper.key_id = "12"
    async with KeeperHarness(keeper).open() as client:
        for _ in range(2):
            assert await read(client, RemoteRef(uid_of("a"), "password")) == b"one"
    without = KeeperHarness(keeper)
    without.given.secrets["login"] = {"config": keeper.configuration(serverPublicKey="")}
    keeper.key_id = "99"
    async with without.open() as client:
        with pytest.raises(Malformed, match="a key with the number '99', which is not known"):
            await read(client, RemoteRef(uid_of("a")))

    assert len(keeper.calls) == 2, "refused calls are not counted"


def _altered(answer: web.Response) -> Callable[[web.Request], web.Response]:
    return lambda _request: answer


@pytest.mark.parametrize(
    ("answer", "kind", "problem"),
    [
        pytest.param(web.Response(text="<html>"), Malformed, "the answer is HTML", id="a page"),
        pytest.param(web.Response(body=b"x" * 99), Malformed, "the answer is not JSON", id="binary"),
        pytest.param(web.json_response({"a": 1}), Malformed, "JSON of another shape", id="JSON"),
        pytest.param(
            web.Response(text="<html>", status=403), Denied, "HTTP 403, but not from Keeper", id="a proxy"
        ),
        pytest.param(
            Refused(400, {"error": "invalid_client_version"}).response(),
            Denied,
            "refuses client mp",
            id="version",
        ),
        pytest.param(
            Refused(403, {"result_code": "bad_request"}).response(), Malformed, r"\(bad_request\)", id="code"
        ),
        pytest.param(Refused(403, {"error": "throttled"}).response(), Throttled, "too many", id="no time"),
    ],
)
async def test_answers(keeper: Keeper, answer: web.Response, kind: type[Exception], problem: str) -> None:
    async with KeeperHarness(keeper).open() as client:
        with keeper.failing(_altered(answer)), pytest.raises(kind, match=problem):
            await read(client, RemoteRef(uid_of("a")))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"appKey": ""}, "its token was never redeemed", id="a token that was not redeemed"),
        pytest.param({"appKey": "AAAA"}, "appKey of the configuration is damaged", id="a short key"),
        pytest.param({"privateKey": "AAAA"}, "privateKey, clientId or appKey", id="no private key"),
        pytest.param({"clientId": ""}, "no configuration of a device", id="nobody"),
        pytest.param({"hostname": "a@b"}, "the hostname in the configuration is none", id="no host"),
    ],
)
async def test_configurations_that_are_none(keeper: Keeper, changes: Mapping[str, str], problem: str) -> None:
    store = KeeperHarness(keeper)
    store.given.secrets["login"] = {"config": keeper.configuration(**changes)}
    with pytest.raises(Malformed, match=problem):
        async with store.open():
            pass


async def test_a_configuration_in_plain_json(keeper: Keeper) -> None:
    keeper.add(uid_of("a"), _login("one"))
    store = KeeperHarness(keeper)
    store.given.secrets["login"] = {"config": b64decode(keeper.configuration())}
    async with store.open() as client:
        assert await read(client, RemoteRef(uid_of("a"), "password")) == b"one"
    store.given.secrets["login"] = {"config": b64encode(b"{")}
    with pytest.raises(Malformed, match="no configuration of a device"):
        async with store.open():
            pass
