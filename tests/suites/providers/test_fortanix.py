"""Fortanix DSM passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import finder, read
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, RestHarness, read_only
from tests.support.servers.fortanix.server import Fortanix
from tests.support.servers.rest import Refused, running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class FortanixHarness(RestHarness[Fortanix]):
    provider = "fortanix"
    lacks: Mapping[Ability, str] = {
        **read_only("as ESO has it, the store is read only"),
        Ability.ABSENCE: "what the API says of an object that does not exist is not published",
        Ability.VERSION: "as ESO has it, the current version is read",
        Ability.FIND_PATH: "objects in Fortanix have no path",
    }

    def spec(self) -> Document:
        return {"apiUrl": self.server.url, "apiKey": {"secretRef": LOGIN}}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.objects[entry.key] = ("SECRET", entry.value)
            self.server.metadata[entry.key] = dict(entry.tags)

    async def stored(self, key: str) -> bytes | None:
        raise AssertionError(f"nothing is pushed: {key}")


class TestFortanix(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Fortanix()) as server:
            yield FortanixHarness(server)


async def test_types_of_objects() -> None:
    async with running(Fortanix()) as server, FortanixHarness(server).open() as client:
        server.objects = {"opaque": ("OPAQUE", b"\xff"), "key": ("AES", b"k")}
        found = await read(client, RemoteRef("opaque"))
        with pytest.raises(Malformed, match="has no value") as caught:
            await read(client, RemoteRef("key"))

    assert found == b"\xff"
    assert "AES" in caught.value.hint
    assert len(server.calls) == 2, "only a secret is exported"


@pytest.mark.parametrize("at", ["info", "export"])
async def test_an_object_that_goes_during_a_search(at: str) -> None:
    async with running(Fortanix()) as server, FortanixHarness(server).open() as client:
        server.objects = {"a": ("OPAQUE", b"1"), "b": ("SECRET", b"2")}

        def delete(request: web.Request) -> None:
            if request.path.endswith(f"/{at}"):
                server.objects.pop("b", None)

        with server.failing(delete):
            found = await finder(client).find(FindQuery(name="."), unpaced, Work())
        with pytest.raises(Malformed, match="there is no object b"):
            await read(client, RemoteRef("b"))

    assert found == {"a": SecretBytes(b"1")}


async def test_an_object_that_is_still_listed_is_not_gone() -> None:
    async with running(Fortanix()) as server, FortanixHarness(server).open() as client:
        server.objects = {"a": ("OPAQUE", b"1")}
        elsewhere = Refused(404, "no route")
        with (
            server.failing(lambda request: elsewhere.response() if request.method == "POST" else None),
            pytest.raises(Malformed, match="there is no object a"),
        ):
            await finder(client).find(FindQuery(name="."), unpaced, Work())
