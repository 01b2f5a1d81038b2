"""Oracle's vaults pass the suite, on a server written from the reference, which verifies each signature."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.providers.contract import RemoteRef
from syncret.providers.errors import Denied, Malformed
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import item, prober, read, writer
from tests.suites.providers.rest_harness import RestHarness
from tests.support.opened import NOW
from tests.support.servers.oracle.server import COMPARTMENT, FINGERPRINT, KEY, TENANCY, USER, VAULT, Oracle
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class OracleHarness(RestHarness[Oracle]):
    """Its server must be where OCI_VAULTS_ENDPOINT says."""

    provider = "oracle"
    versions: tuple[str, str] = ("PREVIOUS", "CURRENT")
    lacks: Mapping[Ability, str] = {
        Ability.FIND_PATH: "secrets in Oracle's vaults have no paths",
        Ability.OWN: "as ESO has it, secrets in Oracle's vaults get no mark",
    }
    options: Mapping[str, Any] = {"compartment": COMPARTMENT, "encryptionKey": KEY}

    def __init__(self, server: Oracle) -> None:
        super().__init__(server)
        self._give()

    def _give(self) -> None:
        login = {"key": self.server.key_file(), "fingerprint": FINGERPRINT.encode()}
        self.given.secrets["login"] = login

    def spec(self) -> Document:
        fields = {"privatekey": "key", "fingerprint": "fingerprint"}
        ref = {field: {"name": "login", "key": key} for field, key in fields.items()}
        auth = {"tenancy": TENANCY, "user": USER, "secretRef": ref}
        return {"region": "eu-frankfurt-1", "vault": VAULT, "auth": auth, **self.options}

    @property
    def canaries(self) -> tuple[str, ...]:
        return ("BEGIN PRIVATE KEY",)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            if entry.key in self.server.secrets:
                self.server.secrets[entry.key]["versions"].append(entry.value)
            else:
                self.server.add(entry.key, entry.value, tags=dict(entry.tags))

    async def stored(self, key: str) -> bytes | None:
        held = self.server.secrets.get(key)
        return held["versions"][-1] if held and held["state"] == "ACTIVE" else None

    async def rotate(self) -> None:
        self.server.key = "oracle-2"
        self._give()


class Nowhere(OracleHarness):
    options: Mapping[str, Any] = {}


class Elsewhere(OracleHarness):
    options: Mapping[str, Any] = {"compartment": "ocid1.compartment.oc1..other"}


class OfInstance(OracleHarness):
    options: Mapping[str, Any] = {"principalType": "InstancePrincipal"}


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Oracle]:
    async with running(Oracle(lambda: NOW)) as server:
        monkeypatch.setenv("OCI_VAULTS_ENDPOINT", server.url)
        yield server


class TestOracle(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(monkeypatch) as server:
            yield OracleHarness(server)


async def test_what_may_not_be_read_is_not_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        async with OracleHarness(server).open() as client:
            server.add("db", b"1")
            server.refused.add("db")
            with pytest.raises(Denied, match="permission denied"):
                await read(client, RemoteRef("db"))
            server.secrets["db"]["state"] = "PENDING_DELETION"
            assert await read(client, RemoteRef("db")) is None
        async with Nowhere(server).open() as client:
            with pytest.raises(Denied, match="does not exist, or may not be read"):
                await read(client, RemoteRef("none"))
            assert await prober(client).probe() == "unknown"
        async with Elsewhere(server).open() as client:
            with pytest.raises(Denied, match="listing secrets: permission denied"):
                await read(client, RemoteRef("none"))


async def test_a_push_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    class Keyless(OracleHarness):
        options: Mapping[str, Any] = {"compartment": COMPARTMENT}

    async with served(monkeypatch) as server, Keyless(server).open() as client:
        with pytest.raises(Malformed, match="encryption key"):
            await writer(client).push(item("db", b"\xff"))


async def test_a_binary_value(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, OracleHarness(server).open() as client:
        await writer(client).push(item("db", b"\xff"))
        assert await read(client, RemoteRef("db")) == b"\xff"


async def test_other_principals(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        with pytest.raises(Malformed, match="only users"):
            async with OfInstance(server).open():
                pass


async def test_a_clock_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, OracleHarness(server).open() as client:
        server.now = lambda: NOW + 3600
        with pytest.raises(Denied, match="HTTP 401"):
            await read(client, RemoteRef("db"))
