"""Conjur passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import RestHarness, read_only
from tests.support.opened import NOW
from tests.support.servers.conjur.server import Conjur
from tests.support.servers.rest import running

NO_PUSH = "ESO's conjur provider is read only: variables come and go by policies"


class ConjurHarness(RestHarness[Conjur]):
    provider = "conjur"
    lacks: Mapping[Ability, str] = {
        **read_only(NO_PUSH),
        Ability.ABSENCE: "Conjur says not found of what may not be seen: nothing must be deleted for that",
        Ability.FIND_PATH: "variables in Conjur are found by name or annotations",
    }
    versions: tuple[str, str] = ("1", "2")

    def __init__(self, server: Conjur) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"host": server.host.encode(), "key": server.key.encode()}

    def spec(self) -> Document:
        login = {"userRef": {"name": "login", "key": "host"}, "apiKeyRef": {"name": "login", "key": "key"}}
        return {"url": self.server.url, "auth": {"apikey": {"account": "acme", **login}}}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.key, *self.server.issued)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.versions.setdefault(entry.key, []).append(entry.value)
            self.server.annotations[entry.key] = dict(entry.tags)

    async def stored(self, key: str) -> bytes | None:
        held = self.server.versions.get(key)
        return held[-1] if held else None

    async def rotate(self) -> None:
        self.server.key, self.server.token = "canary-key-2", ""
        self.given.secrets["login"] = {"host": self.server.host.encode(), "key": self.server.key.encode()}


class TestConjur(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Conjur(lambda: NOW)) as server:
            yield ConjurHarness(server)
