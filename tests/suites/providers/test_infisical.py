"""Infisical passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.rest import running


class InfisicalHarness(RestHarness[Infisical]):
    """Keys are paths from the root."""

    provider = "infisical"
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "as ESO has it, a version is passed over",
        Ability.FIND_TAGS: "ESO's infisical provider does not find by tags",
        Ability.OWN: "as ESO has it, secrets in Infisical have no mark",
    }

    def __init__(self, server: Infisical) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"token": server.secret.encode(), "id": b"shop"}

    def spec(self) -> Document:
        scope = {"projectSlug": "shop", "environmentSlug": "prod", "recursive": True}
        login = {"clientId": {"name": "login", "key": "id"}, "clientSecret": LOGIN}
        return {
            "hostAPI": f"{self.server.url}/api",
            "auth": {"universalAuthCredentials": login},
            "secretsScope": scope,
        }

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.secret, self.server.token)

    def key(self, name: str) -> str:
        return f"/{name}"

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.secrets[_place(entry.key)] = entry.value.decode()

    async def stored(self, key: str) -> bytes | None:
        found = self.server.secrets.get(_place(key))
        return None if found is None else found.encode()

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        with super().refusing(key.rpartition("/")[2]):
            yield

    async def rotate(self) -> None:
        self.server.secret, self.server.token = "canary-secret-2", ""
        self.given.secrets["login"] = {"token": self.server.secret.encode(), "id": b"shop"}


def _place(key: str) -> tuple[str, str]:
    folder, _, name = key.rpartition("/")
    return folder or "/", name


class TestInfisical(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Infisical()) as server:
            yield InfisicalHarness(server)
