"""Scaleway passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.contract import Finder
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.values import FindQuery, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.rest import running
from tests.support.servers.scaleway.server import PROJECT, Scaleway


class ScalewayHarness(RestHarness[Scaleway]):
    """Keys are paths; the suite's folders are Scaleway's."""

    provider = "scaleway"
    versions = ("1", "2")
    lacks: Mapping[Ability, str] = {
        Ability.OWN: "as ESO has it, secrets in Scaleway have no mark",
    }

    def spec(self) -> Document:
        return {
            "apiUrl": self.server.url,
            "region": "fr-par",
            "projectId": PROJECT,
            "accessKey": {"value": "SCWXXXXXXXXXXXXXXXXX"},
            "secretKey": {"secretRef": LOGIN},
        }

    def key(self, name: str) -> str:
        return f"path:/{name}"

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            folder, _, name = entry.key.removeprefix("path:").rpartition("/")
            held = self.server.named(name, folder or "/")
            if held is not None:
                held["versions"].append([entry.value, True])
            else:
                tags = [tag for tag, value in entry.tags.items() if value != "b"]  # of tags the keys count
                self.server.add(name, entry.value, path=folder or "/", tags=tags)

    async def stored(self, key: str) -> bytes | None:
        folder, _, name = key.removeprefix("path:").rpartition("/")
        held = self.server.named(name, folder or "/")
        return None if held is None else held["versions"][-1][0]

    async def rotate(self) -> None:
        self.server.token = "0c0ffee0-0000-4000-8000-000000000002"
        self.given.secrets["login"] = {"token": self.server.token.encode()}

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        with super().refusing(key.rpartition("/")[2]):
            yield


class TestScaleway(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Scaleway()) as server:
            yield ScalewayHarness(server)


async def test_a_search_by_several_tags() -> None:
    async with running(Scaleway()) as server, ScalewayHarness(server).open() as client:
        server.add("one", b"1", tags=["a b", "c,d&{e}"])
        server.add("two", b"2", tags=["a b"])
        assert isinstance(client, Finder)
        found = await client.find(FindQuery(tags=(("a b", ""), ("c,d&{e}", ""))), unpaced, Work())

    assert found == {"one": SecretBytes(b"1")}
