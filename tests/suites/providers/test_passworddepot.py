"""Password Depot passes the suite, on a server written after what the operator calls."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.providers.contract import Reader
from syncret.providers.errors import Malformed
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, read
from syncret.providers.values import RemoteKey, RemoteRef
from tests.suites.providers.rest_harness import RestHarness, read_only
from tests.support.servers.passworddepot.server import PasswordDepot
from tests.support.servers.rest import running
from tests.support.tls import Authority, trust

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

FIELDS = "an entry has the same fields as all others, which tests below look at"
NO_FIND = "as ESO has it, entries are not searched"
AUTHORITY = Authority()


class DepotHarness(RestHarness[PasswordDepot]):
    """The text of an entry is its password."""

    provider = "passworddepot"
    lacks: Mapping[Ability, str] = {
        **read_only("as ESO has it, the store is read only, and no way to write is published"),
        Ability.ABSENCE: "the server does not list what the user may not see, which must delete nothing",
        Ability.PROPERTY: FIELDS,
        Ability.MAP: FIELDS,
        Ability.VERSION: "entries are read as they are now",
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
    }

    def __init__(self, server: PasswordDepot) -> None:
        super().__init__(server)
        self._share_login()

    def _share_login(self) -> None:
        self.given.secrets["login"] = {"username": b"ada", "password": self.server.password.encode()}

    def spec(self) -> Document:
        host = self.server.url.removeprefix("https://")
        return {"host": host, "database": "shop", "auth": {"secretRef": {"credentials": {"name": "login"}}}}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.password, self.server.token)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, **{"pass": entry.value.decode()})

    async def rotate(self) -> None:
        self.server.password, self.server.token = "canary-password-2", "none"
        self._share_login()


@asynccontextmanager
async def served(folder: Path, patch: pytest.MonkeyPatch) -> AsyncGenerator[PasswordDepot]:
    """A store cannot name its authorities, so that those of the machine count."""
    trust(patch, AUTHORITY)
    async with running(PasswordDepot(), AUTHORITY.server(folder)) as server:
        yield server


@pytest.fixture
async def depot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[PasswordDepot]:
    async with served(tmp_path, monkeypatch) as server:
        yield server


class TestPasswordDepot(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(tmp_path, monkeypatch) as server:
            yield DepotHarness(server)


async def test_fields_of_an_entry(depot: PasswordDepot) -> None:
    folder = depot.add("prod", depot.add("shop"))
    depot.add("db.internal", folder, login="ada", **{"pass": "pw"})
    async with DepotHarness(depot).open() as client:
        by_slash = await read(client, RemoteRef("shop/prod/db.internal"))
        by_dot = await read(client, RemoteRef("shop.prod.db.internal", "login"))
        every = await fields(client, RemoteRef("shop/prod/db.internal"))
        with pytest.raises(Malformed, match="no field 'port'"):
            await read(client, RemoteRef("shop/prod/db.internal", "port"))

    shown = {name: value.raw for name, value in (every or {}).items() if value.raw}
    assert (by_slash, by_dot) == (b"pw", b"ada")
    assert {"name", "fingerprint", "importance", "login", "pass"} == shown.keys()


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        pytest.param("databas", "2 names fit 'databas'", id="several contain it"),
        pytest.param("nothing", "there is no entry nothing", id="none"),
        pytest.param("database-1/x", "there is no entry database-1/x", id="none in an entry"),
        pytest.param("", "the key is empty", id="empty"),
    ],
)
async def test_keys_that_lead_nowhere(depot: PasswordDepot, key: str, problem: str) -> None:
    depot.add("database-1")
    depot.add("database-2")
    async with DepotHarness(depot).open() as client:
        with pytest.raises(Malformed, match=problem):
            await read(client, RemoteRef(key))


async def test_a_part_of_a_name_is_enough(depot: PasswordDepot) -> None:
    depot.add("Database of the shop", **{"pass": "pw"})
    async with DepotHarness(depot).open() as client:
        assert await read(client, RemoteRef("Database")) == b"pw"


async def test_a_database_that_is_not_there(depot: PasswordDepot) -> None:
    del depot.databases["shop"]
    async with DepotHarness(depot).open() as client:
        with pytest.raises(Malformed, match="there is no database shop"):
            await read(client, RemoteRef("a"))


async def test_fifty_keys_list_their_folder_once(depot: PasswordDepot) -> None:
    folder = depot.add("shop")
    for number in range(50):
        depot.add(f"k-{number}.", folder, **{"pass": "v"})
    async with DepotHarness(depot).open() as client:
        assert isinstance(client, Reader)
        found = await client.fetch([RemoteKey(f"shop/k-{number}.") for number in range(50)])

    assert len(found) == 50
    assert len(depot.calls) == 3 + 50, "the databases, the two folders, and each entry"
