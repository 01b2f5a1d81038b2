"""Delinea DevOps Secrets Vault passes the suite, on a server written from its published reference."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness, finds_nothing, read_only
from tests.support.servers.delinea.server import Delinea
from tests.support.servers.rest import running

NO_PUSH = "ESO's delinea provider is read only"
NO_FIND = "ESO's delinea provider finds nothing"


class DelineaHarness(RestHarness[Delinea]):
    """A secret holds a JSON object."""

    provider = "delinea"
    lacks: Mapping[Ability, str] = {
        **read_only(NO_PUSH),
        Ability.VERSION: "as in ESO, a version is refused",
        **finds_nothing(NO_FIND),
    }

    def __init__(self, server: Delinea) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"token": server.secret.encode()}

    def spec(self) -> Document:
        template = self.server.url.replace("127.0.0.1", "%s") + "/v1/%s%s"
        host, _, port = template.partition("%s:")
        return {
            "tenant": "127.0.0",
            "tld": f"1:{port.partition('/')[0]}",
            "urlTemplate": f"{host}%s.%s/v1/%s%s",
            "clientId": {"value": "shop"},
            "clientSecret": {"secretRef": LOGIN},
        }

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.secret, self.server.token)

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": text}, separators=(",", ":")).encode()

    async def seed(self, *entries: Entry) -> None:
        self.server.secrets |= {entry.key: json.loads(entry.value) for entry in entries}

    async def stored(self, key: str) -> bytes | None:
        found = self.server.secrets.get(key)
        return None if found is None else json.dumps(found).encode()

    async def rotate(self) -> None:
        self.server.token, self.server.secret = "", "canary-secret-2"
        self.given.secrets["login"] = {"token": self.server.secret.encode()}


class TestDelinea(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Delinea()) as server:
            yield DelineaHarness(server)
