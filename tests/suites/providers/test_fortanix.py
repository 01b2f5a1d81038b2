"""Fortanix DSM passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import read
from syncret.providers.values import RemoteRef
from tests.suites.providers.rest_harness import LOGIN, RestHarness, read_only
from tests.support.servers.fortanix.server import Fortanix
from tests.support.servers.rest import running

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
