"""Onboardbase passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Denied
from syncret.providers.onboardbase.cryptojs import decrypted
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import read
from syncret.providers.values import RemoteRef
from tests.suites.providers.rest_harness import LOGIN, RestHarness, read_only
from tests.support.servers.onboardbase.server import Onboardbase
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class OnboardbaseHarness(RestHarness[Onboardbase]):
    provider = "onboardbase"
    lacks: Mapping[Ability, str] = {
        **read_only("ESO's onboardbase provider writes nothing, and the reference shows no way to"),
        Ability.PROPERTY: "as ESO has it, a string keeps its quotes, which a test below looks at",
        Ability.VERSION: "the API reads what an environment holds now",
        Ability.FIND_TAGS: "secrets in Onboardbase have no tags",
        Ability.REFUSE_KEY: "one answer has all secrets of the environment",
    }

    def __init__(self, server: Onboardbase) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"token": b"canary-token-1", "passcode": server.passcode.encode()}

    def spec(self) -> Document:
        auth = {"apiKeyRef": LOGIN, "passcodeRef": {"name": "login", "key": "passcode"}}
        place = {"project": "shop", "environment": "production"}
        return {"apiHost": f"{self.server.url}/api/v1/", **place, "auth": auth}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.token, self.server.passcode)

    async def seed(self, *entries: Entry) -> None:
        self.server.secrets |= {entry.key: entry.value.decode() for entry in entries}

    async def rotate(self) -> None:
        await super().rotate()
        held = self.given.secrets["login"]
        self.given.secrets["login"] = {**held, "passcode": self.server.passcode.encode()}

    async def stored(self, key: str) -> bytes | None:
        raise AssertionError(f"nothing is pushed: {key}")


class TestOnboardbase(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Onboardbase()) as server:
            yield OnboardbaseHarness(server)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("user", b'"ada"', id="a string"),
        pytest.param("port", b"5432", id="a number"),
        pytest.param("nested.a", b'["b"]', id="a list"),
    ],
)
async def test_a_property_is_json(path: str, expected: bytes) -> None:
    async with running(Onboardbase()) as server:
        server.secrets["db"] = '{"user": "ada", "port": 5432, "nested": {"a": ["b"]}}'
        async with OnboardbaseHarness(server).open() as client:
            assert await read(client, RemoteRef("db", path)) == expected


async def test_another_passcode() -> None:
    async with running(Onboardbase()) as server:
        store = OnboardbaseHarness(server)
        server.secrets["db"], server.passcode = "value", "another"
        async with store.open() as client:
            with pytest.raises(Denied, match="the passcode does not decrypt it"):
                await read(client, RemoteRef("db"))


def test_what_the_vendors_own_library_has_encrypted() -> None:
    """The text and the passphrases of its tests."""
    text = "U2FsdGVkX19iTX97fWMuY1mrRAFd8/aXoWj4mkC0q1uFodyPORuSH1bsjaxxeL3E"

    assert decrypted(text, b"passkey") == "external_secrets"
    assert decrypted(text, b"PaSSKey") is None
    assert decrypted(text.replace("dGVk", "dGjk"), b"passkey") is None
