"""Chef passes the suite, on a server written from its published reference, which verifies each signature."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Denied, Malformed
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, item, prober, read, writer
from syncret.providers.values import RemoteRef
from tests.suites.providers.rest_harness import RestHarness
from tests.support.opened import NOW
from tests.support.servers.chef.server import Chef
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

NO_FIND = "as ESO has it, data bags are not searched"


class ChefHarness(RestHarness[Chef]):
    """Each entry is the item `secret` of a data bag of its own: an item has its name among its members."""

    provider = "chef"
    lacks: Mapping[Ability, str] = {
        Ability.MAP: "an item has its name among its members; extract of a whole data bag is tested below",
        Ability.VERSION: "items have no versions",
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
        Ability.OWN: "items have no place for a mark",
    }

    def __init__(self, server: Chef, now: Callable[[], float] = lambda: NOW) -> None:
        super().__init__(server)
        self.now = now
        self.given.secrets["login"] = {"key": server.key_file()}

    def spec(self) -> Document:
        auth = {"secretRef": {"privateKeySecretRef": {"name": "login", "key": "key"}}}
        return {"serverUrl": f"{self.server.url}/organizations/acme/", "username": "shop", "auth": auth}

    @property
    def canaries(self) -> tuple[str, ...]:
        return ("BEGIN PRIVATE KEY",)

    def key(self, name: str) -> str:
        return f"{name.replace('/', '-')}/secret"

    def whole(self, text: str) -> bytes:
        return json.dumps({"id": "secret", "value": text}, separators=(",", ":")).encode()

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            bag = entry.key.removesuffix("/secret")
            self.server.bags[bag] = {"secret": {**json.loads(entry.value), "id": "secret"}}

    async def stored(self, key: str) -> bytes | None:
        held = self.server.bags.get(key.removesuffix("/secret"), {}).get("secret")
        if held is None:
            return None
        shown = held if "value" in held else {name: each for name, each in held.items() if name != "id"}
        return json.dumps(shown, separators=(",", ":")).encode()

    async def rotate(self) -> None:
        self.server.key = "chef-2"
        self.given.secrets["login"] = {"key": self.server.key_file()}


class TestChef(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Chef(lambda: NOW)) as server:
            yield ChefHarness(server)


async def test_a_whole_data_bag() -> None:
    async with running(Chef(lambda: NOW)) as server, ChefHarness(server).open() as client:
        server.bags["shop"] = {"db": {"id": "db", "port": 5432}, "web": {"id": "web"}}
        found = await fields(client, RemoteRef("shop"))
        absent = await fields(client, RemoteRef("none"))
        with pytest.raises(Malformed, match="invalid key 'shop'"):
            await read(client, RemoteRef("shop"))

    assert {name: value.raw for name, value in (found or {}).items()} == {
        "db": b'{"id":"db","port":5432}',
        "web": b'{"id":"web"}',
    }
    assert absent is None


@pytest.mark.parametrize(("kind", "calls"), [("users", 1), ("clients", 2)])
async def test_users_and_clients_may_sign(kind: str, calls: int) -> None:
    async with running(Chef(lambda: NOW, kind)) as server, ChefHarness(server).open() as client:
        assert await prober(client).probe() == "ready"

    assert len(server.calls) == calls


async def test_who_is_neither_a_user_nor_a_client() -> None:
    async with running(Chef(lambda: NOW, "none")) as server, ChefHarness(server).open() as client:
        with pytest.raises(Malformed, match="reading client shop: HTTP 404"):
            await prober(client).probe()


async def test_what_is_no_object_is_no_item() -> None:
    async with running(Chef(lambda: NOW)) as server, ChefHarness(server).open() as client:
        with pytest.raises(Malformed, match="is a JSON object"):
            await writer(client).push(item("shop/db", b"text"))

    assert server.bags == {}


async def test_a_clock_that_is_off() -> None:
    async with running(Chef(lambda: NOW + 3600)) as server, ChefHarness(server).open() as client:
        with pytest.raises(Denied, match="HTTP 401"):
            await read(client, RemoteRef("shop/db"))
