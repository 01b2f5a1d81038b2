"""Akeyless passes the suite, on a server written from its published reference."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.rest import running


class AkeylessHarness(RestHarness[Akeyless]):
    """What is pushed is a JSON object."""

    provider = "akeyless"
    versions = ("1", "2")
    lacks: Mapping[Ability, str] = {
        Ability.FIND_PATH: "as in ESO, a path narrows a search by name or tags",
        Ability.OWN: "as in ESO, a push changes what others made; a deletion leaves it alone",
    }

    def __init__(self, server: Akeyless) -> None:
        super().__init__(server)
        self._log_in_with(server.key)

    def _log_in_with(self, key: str) -> None:
        self.given.secrets["login"] = {"token": key.encode(), "id": b"p-1", "type": b"api_key"}

    def spec(self) -> Document:
        def selected(key: str) -> Document:
            return {"name": "login", "key": key}

        ref = {"accessID": selected("id"), "accessType": selected("type"), "accessTypeParam": LOGIN}
        return {"akeylessGWApiURL": self.server.url, "authSecretRef": {"secretRef": ref}}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.key, self.server.token)

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": text}, separators=(",", ":")).encode()

    def key(self, name: str) -> str:
        return f"/{name}"

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            if entry.key in self.server.items:
                self.server.items[entry.key]["versions"].append(entry.value.decode())
            else:
                self.server.add(entry.key, entry.value.decode(), tags=entry.tags.values())

    async def stored(self, key: str) -> bytes | None:
        found = self.server.items.get(key)
        return None if found is None else found["versions"][-1].encode()

    async def rotate(self) -> None:
        self.server.key, self.server.token = "canary-key-2", ""
        self._log_in_with(self.server.key)


class TestAkeyless(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Akeyless()) as server:
            yield AkeylessHarness(server)
