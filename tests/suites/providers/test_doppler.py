"""Doppler passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.rest import running

WHOLE = "as ESO has it, Doppler's secrets are read and pushed whole: a property is ignored"


class DopplerHarness(RestHarness[Doppler]):
    provider = "doppler"
    lacks: Mapping[Ability, str] = {
        Ability.PROPERTY: WHOLE,
        Ability.PUSH_PROPERTY: WHOLE,
        Ability.DELETE_PROPERTY: WHOLE,
        Ability.VERSION: "the API reads what a config holds now",
        Ability.FIND_TAGS: "secrets in Doppler have no tags",
        Ability.OWN: "secrets in Doppler have no place for a mark",
        Ability.REFUSE_KEY: "a token may read a config or not, and a batch is one call",
    }

    def spec(self) -> Document:
        auth = {"secretRef": {"dopplerToken": LOGIN}}
        return {"project": "shop", "config": "prd", "auth": auth}

    def key(self, name: str) -> str:
        return name.upper().replace("-", "_").replace("/", "_")

    async def seed(self, *entries: Entry) -> None:
        self.server.secrets |= {entry.key: entry.value.decode() for entry in entries}

    async def stored(self, key: str) -> bytes | None:
        found = self.server.secrets.get(key)
        return None if found is None else found.encode()


class TestDoppler(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with running(Doppler()) as server:
            monkeypatch.setenv("DOPPLER_BASE_URL", server.url)
            yield DopplerHarness(server)
