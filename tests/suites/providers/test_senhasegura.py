"""senhasegura passes the suite, on a server written from its published pages."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness, finds_nothing, read_only
from tests.support.servers.rest import running
from tests.support.servers.senhasegura.server import Senhasegura

NO_PUSH = "an application can only read"


class SenhaseguraHarness(RestHarness[Senhasegura]):
    """A secret has one entry: the members of a JSON object."""

    provider = "senhasegura"
    lacks: Mapping[Ability, str] = {
        **read_only(NO_PUSH),
        Ability.ABSENCE: "senhasegura does not list what may not be read, which must delete nothing",
        Ability.VERSION: "the API reads secrets as they are now",
        **finds_nothing("ESO's senhasegura provider finds nothing"),
        Ability.REFUSE_KEY: "one answer has all secrets of the application",
    }

    def __init__(self, server: Senhasegura) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"token": server.secret.encode()}

    def spec(self) -> Document:
        return {
            "url": self.server.url,
            "module": "DSM",
            "auth": {"clientId": "shop", "clientSecretSecretRef": LOGIN},
        }

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.secret, self.server.token)

    def whole(self, text: str) -> bytes:
        return json.dumps([{"value": text}], separators=(",", ":")).encode()

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            if entry.value.startswith(b"["):
                self.server.secrets[entry.key] = json.loads(entry.value)
            else:
                found = json.loads(entry.value)
                self.server.secrets[entry.key] = [{name: _text(each) for name, each in found.items()}]

    async def stored(self, key: str) -> bytes | None:
        found = self.server.secrets.get(key)
        return None if found is None else json.dumps(found).encode()

    async def rotate(self) -> None:
        self.server.secret, self.server.token = "canary-secret-2", ""
        self.given.secrets["login"] = {"token": self.server.secret.encode()}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, separators=(",", ":"))


class TestSenhasegura(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Senhasegura()) as server:
            yield SenhaseguraHarness(server)
