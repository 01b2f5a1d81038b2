"""OVHcloud passes the suite, on a server written from its published reference."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import finder, item, read, writer
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, HoldsFields, RestHarness
from tests.support.servers.ovh.server import DOMAIN, Ovh
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

BELOW = "as ESO has it, a push with a property replaces the secret, which a test below looks at"


class OvhHarness(HoldsFields, RestHarness[Ovh]):
    provider = "ovh"
    versions: tuple[str, str] = ("1", "2")
    lacks: Mapping[Ability, str] = {
        Ability.PUSH_PROPERTY: BELOW,
        Ability.DELETE_PROPERTY: BELOW,
        Ability.FIND_TAGS: "secrets in OVHcloud have no tags",
        Ability.OWN: "as ESO has it, secrets in OVHcloud get no mark",
    }

    def spec(self) -> Document:
        return {"server": self.server.url, "okmsid": DOMAIN, "auth": {"token": {"tokenSecretRef": LOGIN}}}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.secrets.setdefault(entry.key, []).append(json.loads(entry.value))

    async def stored(self, key: str) -> bytes | None:
        held = self.server.secrets.get(key)
        return json.dumps(held[-1], separators=(",", ":")).encode() if held else None


class TestOvh(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Ovh()) as server:
            yield OvhHarness(server)


async def test_a_push_with_a_property_and_json() -> None:
    async with running(Ovh()) as server, OvhHarness(server).open() as client:
        await writer(client).push(item("a/b", b"5432", "db"))
        before = await writer(client).exists(RemoteTarget("a/b", "db"))
        await writer(client).push(item("a/b", b"text", "web"))

    assert before
    assert server.secrets["a/b"] == [{"db": {"k": 5432}}, {"web": {"k": "text"}}]


async def test_a_version_that_another_has_written_meanwhile() -> None:
    class Checking(OvhHarness):
        def spec(self) -> Document:
            return {**super().spec(), "casRequired": True}

    async with running(Ovh()) as server, Checking(server).open() as client:
        server.secrets["a"] = [{"k": "1"}]
        await writer(client).push(item("a", b"two"))

    assert server.calls[-1].endswith("/v2/secret/a?cas=1")


async def test_folders_are_followed() -> None:
    async with running(Ovh()) as server, OvhHarness(server).open() as client:
        server.secrets = {path: [{"a": path}] for path in ("shop/db", "shop/mail/user", "web")}
        below = await finder(client).find(FindQuery(path="shop/"), unpaced, Work())
        every = await finder(client).find(FindQuery(name="^shop/mail|^web$"), unpaced, Work())
        with pytest.raises(Malformed, match="invalid path"):
            await finder(client).find(FindQuery(path="/shop"), unpaced, Work())

    assert (set(below or ()), set(every or ())) == ({"shop/db", "shop/mail/user"}, {"shop/mail/user", "web"})


async def test_a_folder_of_several_pages() -> None:
    async with running(Ovh()) as server, OvhHarness(server).open() as client:
        server.secrets = {f"shop/{name}": [{"a": name}] for name in "abcde"}
        found = await finder(client).find(FindQuery(path="shop"), unpaced, Work())

    assert set(found or ()) == {f"shop/{name}" for name in "abcde"}


async def test_a_version_that_does_not_exist() -> None:
    async with running(Ovh()) as server, OvhHarness(server).open() as client:
        server.secrets["a"] = [{"k": "1"}]
        assert await read(client, RemoteRef("a", version="2")) is None


async def test_rights_of_a_push() -> None:
    async with running(Ovh()) as server, OvhHarness(server).open() as client:
        server.secrets["a"] = [{"k": "1"}]
        with (
            server.failing(lambda request: server.denied(request) if request.method == "PUT" else None),
            pytest.raises(Denied, match="changing secret a") as caught,
        ):
            await writer(client).push(item("a", b"two"))

    assert "secret/version/create" in caught.value.hint
