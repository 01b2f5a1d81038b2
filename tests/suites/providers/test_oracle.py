"""Oracle's vaults pass the suite, on a server written from the reference, which verifies each signature."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.providers.contract import Client, IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.ambient import oracle
from syncret.providers.oracle import PROVIDER
from syncret.providers.oracle.connection import open_store
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import item, prober, read, writer
from syncret.providers.values import RemoteRef, SecretBytes
from tests.suites.providers.rest_harness import RestHarness
from tests.support.opened import NOW, context
from tests.support.servers.oracle.principals import TENANCY
from tests.support.servers.oracle.server import COMPARTMENT, FINGERPRINT, KEY, USER, VAULT, Oracle
from tests.support.servers.rest import running
from tests.support.specs import spec_of
from tests.support.tls import Authority, trust

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class OracleHarness(RestHarness[Oracle]):
    """Its server must be where OCI_VAULTS_ENDPOINT says."""

    provider = "oracle"
    versions: tuple[str, str] = ("PREVIOUS", "CURRENT")
    lacks: Mapping[Ability, str] = {
        Ability.ABSENCE: "Oracle says not found of what may not be read, too, which must delete nothing",
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


class Remembering(OracleHarness):
    """Its clients share the memory of one store."""

    def __init__(self, server: Oracle) -> None:
        super().__init__(server)
        self.memory: dict[str, Any] = {}

    def open(self) -> AbstractAsyncContextManager[Client]:
        opened = context(self.given, now=self.now, keep=self.memory)
        return open_store(spec_of(PROVIDER, self.spec()), opened)


class OfInstance(OracleHarness):
    options: Mapping[str, Any] = {**OracleHarness.options, "principalType": "InstancePrincipal"}


class OfPod(OracleHarness):
    options: Mapping[str, Any] = {**OracleHarness.options, "principalType": "Workload"}


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
            server.elsewhere.add("db")
            with pytest.raises(Malformed, match="is in another compartment and may not be read"):
                await read(client, RemoteRef("db"))
        async with Nowhere(server).open() as client:
            with pytest.raises(Denied, match="does not exist, or may not be read"):
                await read(client, RemoteRef("none"))
            assert await prober(client).probe() == "unknown"
        async with Elsewhere(server).open() as client:
            with pytest.raises(Denied, match="listing secrets: permission denied"):
                await read(client, RemoteRef("none"))


async def test_what_was_in_deletion_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the list does not have it any more, and by another client of the store."""
    async with served(monkeypatch) as server:
        store = Remembering(server)
        server.add("db", b"1")
        async with store.open() as client:
            for state in ("SCHEDULING_DELETION", "PENDING_DELETION", "DELETED"):
                server.secrets["db"]["state"] = state
                assert await read(client, RemoteRef("db")) is None
        del server.secrets["db"]
        async with store.open() as client:
            assert await read(client, RemoteRef("db")) is None
            server.add("db", b"2")
            assert await read(client, RemoteRef("db")) == b"2"
            del server.secrets["db"]
            with pytest.raises(Malformed):
                await read(client, RemoteRef("db"))


async def test_a_push_concerns_the_compartment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that the list does not have is made, unless another compartment has it."""
    async with served(monkeypatch) as server, OracleHarness(server).open() as client:
        server.add("db", b"1")
        server.elsewhere.add("db")
        server.refused.add("db")
        assert not await writer(client).exists(RemoteTarget("db"))
        with pytest.raises(Malformed, match="HTTP 409"):
            await writer(client).push(item("db", b"2"))
        await writer(client).delete(RemoteTarget("db"))
        await writer(client).push(item("new", b"2"))

    assert {name: held["versions"] for name, held in server.secrets.items()} == {"db": [b"1"], "new": [b"2"]}
    assert server.secrets["db"]["state"] == "ACTIVE"


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


@pytest.fixture
async def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Oracle]:
    """Vaults, logins, the metadata server and the cluster's sessions, all at one address with https."""
    authority = Authority()
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    (tmp_path / "token").write_text("jwt-of-app")
    trust(monkeypatch, authority)
    async with running(Oracle(lambda: NOW), authority.server(tmp_path)) as server:
        monkeypatch.setenv("OCI_VAULTS_ENDPOINT", server.url)
        monkeypatch.setenv("OCI_METADATA_BASE_URL", f"{server.url}/opc/v2")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH", str(tmp_path / "ca.crt"))
        monkeypatch.setattr(oracle, "SESSIONS", server.port)
        monkeypatch.setattr(oracle, "MOUNT", tmp_path)
        server.add("db", b"1")
        yield server


class OfAccount(OracleHarness):
    options: Mapping[str, Any] = {
        **OracleHarness.options,
        "principalType": "Workload",
        "serviceAccountRef": {"name": "app"},
    }

    def __init__(self, server: Oracle) -> None:
        super().__init__(server)
        self.given.tokens = {"app": IssuedToken(SecretBytes(b"jwt-of-app"), NOW + 3600)}


@pytest.mark.parametrize(
    "harness",
    [
        pytest.param(OfInstance, id="the machine"),
        pytest.param(OfPod, id="the pod"),
        pytest.param(OfAccount, id="an account"),
    ],
)
async def test_other_principals(cloud: Oracle, harness: type[OracleHarness]) -> None:
    """A session is begun, and another one when Oracle has forgotten it."""
    async with harness(cloud).open() as client:
        assert await read(client, RemoteRef("db")) == b"1"
        cloud.principals.sessions.clear()
        assert await read(client, RemoteRef("db")) == b"1"

    assert cloud.principals.begun == 2


async def test_a_cluster_that_gives_no_sessions(cloud: Oracle) -> None:
    cloud.principals.account = "another"
    with pytest.raises(Denied, match="the login is refused") as refused:
        async with OfPod(cloud).open():
            pass
    assert "enhanced cluster" in refused.value.hint


async def test_nobody_who_signs(cloud: Oracle) -> None:
    class Nobody(OracleHarness):
        def spec(self) -> Document:
            return {name: value for name, value in super().spec().items() if name != "auth"}

    with pytest.raises(Malformed, match="names nobody"):
        async with Nobody(cloud).open():
            pass


async def test_a_clock_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, OracleHarness(server).open() as client:
        server.now = lambda: NOW + 3600
        with pytest.raises(Denied, match="HTTP 401"):
            await read(client, RemoteRef("db"))
