"""Volcengine passes the suite, on a server written from its reference, which verifies signatures."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Client
from syncret.providers.errors import Denied, Malformed, Throttled
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, finder, item, read, writer
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import RestHarness
from tests.support.opened import NOW
from tests.support.servers.rest import running
from tests.support.servers.volcengine.server import REGION, ROLE, Volcengine

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class VolcengineHarness(RestHarness[Volcengine]):
    """Its server must be where VOLCENGINE_ENDPOINT says."""

    provider = "volcengine"
    versions: tuple[str, str] = ("v1", "v2")
    lacks: Mapping[Ability, str] = {
        Ability.MAP: "as in the operator, members of a map are JSON; they are tested below",
        Ability.FIND_TAGS: "the list of secrets does not show their tags",
        Ability.OWN: "secrets of Volcengine get no mark",
    }

    def __init__(self, server: Volcengine) -> None:
        super().__init__(server)
        self._give()

    def _give(self) -> None:
        key = {"id": self.server.key_id, "secret": self.server.token, "session": self.server.session}
        self.given.secrets["login"] = {name: value.encode() for name, value in key.items()}

    def spec(self) -> Document:
        fields = {"accessKeyID": "id", "secretAccessKey": "secret", "token": "session"}
        ref = {field: {"name": "login", "key": key} for field, key in fields.items()}
        return {"region": REGION, "auth": {"secretRef": ref}}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.secrets.setdefault(entry.key, []).append(entry.value.decode())

    async def stored(self, key: str) -> bytes | None:
        there = key in self.server.secrets and key not in self.server.deleted
        return self.server.secrets[key][-1].encode() if there else None

    async def rotate(self) -> None:
        self.server.token = "canary-token-2"
        self._give()


class OfRole(VolcengineHarness):
    def spec(self) -> Document:
        return {"region": REGION}


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Volcengine]:
    async with running(Volcengine(lambda: NOW)) as server:
        monkeypatch.setenv("VOLCENGINE_ENDPOINT", server.url)
        monkeypatch.setenv("VOLCENGINE_OIDC_STS_ENDPOINT", server.url)
        yield server


class TestVolcengine(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(monkeypatch) as server:
            yield VolcengineHarness(server)


async def test_the_role_of_the_pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "token"
    async with served(monkeypatch) as server:
        server.session = "canary-session"
        server.secrets["db"] = ["1"]
        with pytest.raises(Malformed, match="has no role"):
            async with OfRole(server).open():
                pass
        monkeypatch.setenv("VOLCENGINE_OIDC_ROLE_TRN", ROLE)
        monkeypatch.setenv("VOLCENGINE_OIDC_TOKEN_FILE", str(file))
        file.write_text("jwt-of-daemon\n")
        async with OfRole(server).open() as client:
            found = await read(client, RemoteRef("db"))
        whole = server.policy
        monkeypatch.setenv("VOLCENGINE_OIDC_ROLE_POLICY", '{"Statement": []}')
        async with OfRole(server).open():
            limited = server.policy
        file.write_text("another")
        with pytest.raises(Denied, match="the login is refused"):
            async with OfRole(server).open():
                pass

    assert found == b"1"
    assert (whole, limited) == ("", '{"Statement": []}')


async def test_members_are_json(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets = {"db": ['{"user": "ada", "port": 5432}'], "text": ["no JSON"]}
        found = await fields(client, RemoteRef("db"))
        with pytest.raises(Malformed):
            await fields(client, RemoteRef("text"))

    assert {name: value.raw for name, value in (found or {}).items()} == {"user": b'"ada"', "port": b"5432"}


async def test_temporary_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        server.session = "canary-session"
        server.secrets["db"] = ["1"]
        async with VolcengineHarness(server).open() as client:
            assert await read(client, RemoteRef("db")) == b"1"


async def test_what_counts_as_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets = {"leaving": ["1"], "there": ["1"]}
        server.deleted = {"leaving"}
        refs = (RemoteRef("none"), RemoteRef("there", version="v9"), RemoteRef("leaving"))
        found = [await read(client, ref) for ref in refs]

    reading, asking = ("POST /?Action=GetSecretValue", "POST /?Action=DescribeSecret")
    calls = [call.partition("&")[0] for call in server.calls]
    assert found == [None, None, None]
    assert calls == [reading, asking, reading, reading, reading, asking]


KEYLESS: Final[Mapping[str, Callable[[Client], Awaitable[object]]]] = {
    "read": lambda client: read(client, RemoteRef("db")),
    "version": lambda client: read(client, RemoteRef("db", version="v1")),
    "push": lambda client: writer(client).push(item("db", b"2")),
    "delete": lambda client: writer(client).delete(RemoteTarget("db")),
    "exists": lambda client: writer(client).exists(RemoteTarget("db")),
}


@pytest.mark.parametrize("call", KEYLESS)
async def test_a_secret_whose_key_is_gone_is_there(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets, server.keyless = {"db": ["1"]}, {"db"}
        with pytest.raises(Malformed, match="reading secret db: Volcengine finds no such"):
            await KEYLESS[call](client)

    assert server.writes == 0


async def test_a_secret_that_waits_for_its_deletion_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets, server.keyless, server.deleted = {"db": ["1"]}, {"db"}, {"db"}
        assert await read(client, RemoteRef("db")) is None


async def test_absence_must_be_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:

        def fault(request: web.Request) -> web.StreamResponse | None:
            describes = request.query["Action"] == "DescribeSecret"
            return server.error(403, "AccessDenied").response() if describes else None

        with server.failing(fault), pytest.raises(Denied, match="state of secret none: permission denied"):
            await read(client, RemoteRef("none"))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        pytest.param(400, "InvalidParameter", id="a name that cannot be"),
        pytest.param(400, "InvalidSecretType", id="a secret of another kind"),
        pytest.param(400, "Not Found", id="another status"),
        pytest.param(404, "InvalidActionOrVersion", id="no such action there"),
    ],
)
async def test_other_errors_are_no_absence(monkeypatch: pytest.MonkeyPatch, status: int, code: str) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:

        def fault(request: web.Request) -> web.StreamResponse | None:
            reads = request.query["Action"] == "GetSecretValue"
            return server.error(status, code).response() if reads else None

        with server.failing(fault), pytest.raises(Malformed, match=f"HTTP {status}, {code}"):
            await read(client, RemoteRef("db"))


async def test_a_disabled_secret_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets, server.disabled = {"db": ["1"]}, {"db"}
        with pytest.raises(Malformed, match="the secret is disabled"):
            await read(client, RemoteRef("db"))


async def test_a_search_leaves_out_what_waits_for_its_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets = {f"s-{number}": ["1"] for number in range(150)}
        server.deleted = {"s-149"}
        found = await finder(client).find(FindQuery(path="s-14"), unpaced, Work())

    assert set(found or ()) == {"s-14", *(f"s-{number}" for number in range(140, 149))}


async def test_a_push_to_what_waits_for_its_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.secrets, server.deleted = {"db": ["1"]}, {"db"}
        with pytest.raises(Malformed, match="one of this name waits for its deletion") as caught:
            await writer(client).push(item("db", b"2"))

    assert "CancelSecretDeletion" in caught.value.hint
    assert server.secrets == {"db": ["1"]}


async def test_a_name_that_another_has_taken_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:

        def taken(request: web.Request) -> None:
            if request.query["Action"] == "CreateSecret":
                server.secrets = {"db": ["1"]}

        with server.failing(taken), pytest.raises(Malformed, match="HTTP 400, NameInUse"):
            await writer(client).push(item("db", b"2"))


@pytest.mark.parametrize("status", [400, 403])
async def test_why_a_secret_cannot_be_created(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """Also if its state may not be asked for."""
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        created = False

        def fault(request: web.Request) -> web.StreamResponse | None:
            nonlocal created
            if request.query["Action"] == "CreateSecret":
                created = True
                return server.error(400, "InvalidParameter").response()
            return server.error(status, "Other").response() if created else None

        with server.failing(fault), pytest.raises(Malformed, match="creating secret db: HTTP 400, Invalid"):
            await writer(client).push(item("db", b"2"))


@pytest.mark.parametrize("code", ["Reject.Throttling.Action", "Reject.Throttling.Other"])
@pytest.mark.parametrize("status", [400, 403])
async def test_throttling(monkeypatch: pytest.MonkeyPatch, status: int, code: str) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        with server.failing(lambda _request: server.error(status, code).response()), pytest.raises(Throttled):
            await read(client, RemoteRef("db"))


async def test_a_clock_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, VolcengineHarness(server).open() as client:
        server.now = lambda: NOW + 3600
        with pytest.raises(Denied, match="refuses the access key"):
            await read(client, RemoteRef("db"))
