"""Alibaba Cloud passes the suite, on a server written from its reference, which verifies signatures."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.providers.contract import Writer
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import finder, read
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import RestHarness
from tests.support.opened import NOW
from tests.support.servers.alibaba.server import ISSUER, ROLE, Kms
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class AlibabaHarness(RestHarness[Kms]):
    """Its server must be where ALIBABA_CLOUD_KMS_ENDPOINT says."""

    provider = "alibaba"
    versions: tuple[str, str] = ("v1", "v2")
    lacks: Mapping[Ability, str] = {Ability.OWN: "secrets of Alibaba Cloud get no mark"}

    def __init__(self, server: Kms, now: Callable[[], float] = lambda: NOW) -> None:
        super().__init__(server)
        self.now = now
        self._give()

    def _give(self) -> None:
        self.given.secrets["login"] = {
            "id": self.server.key_id.encode(),
            "secret": self.server.token.encode(),
        }

    def spec(self) -> Document:
        fields = {"accessKeyIDSecretRef": "id", "accessKeySecretSecretRef": "secret"}
        ref = {field: {"name": "login", "key": key} for field, key in fields.items()}
        return {"regionID": "cn-hangzhou", "auth": {"secretRef": ref}}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, entry.value.decode(), tags=dict(entry.tags))

    async def stored(self, key: str) -> bytes | None:
        held = self.server.secrets.get(key)
        return None if held is None or held.planned else [*held.versions.values()][-1].encode()

    async def rotate(self) -> None:
        self.server.token = "canary-token-2"
        self._give()


class OfRole(AlibabaHarness):
    """By the token in a file."""

    def __init__(self, server: Kms, file: Path) -> None:
        super().__init__(server)
        self.file = file

    def spec(self) -> Document:
        arns = {"oidcProviderArn": ISSUER, "roleArn": ROLE}
        return {
            "regionID": "cn-hangzhou",
            "auth": {"rrsa": {**arns, "oidcTokenFilePath": str(self.file), "sessionName": "syncret"}},
        }


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Kms]:
    async with running(Kms(lambda: NOW)) as server:
        monkeypatch.setenv("ALIBABA_CLOUD_KMS_ENDPOINT", server.url)
        monkeypatch.setenv("ALIBABA_CLOUD_STS_ENDPOINT", server.url)
        yield server


class TestAlibaba(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with served(monkeypatch) as server:
            yield AlibabaHarness(server)


async def test_the_role_of_a_service_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("jwt-of-pod\n")
    async with served(monkeypatch) as server:
        server.session = "canary-session"
        server.add("db", "1")
        async with OfRole(server, file).open() as client:
            found = await read(client, RemoteRef("db"))
        file.write_text("another")
        with pytest.raises(Denied, match=r"HTTP 400, AuthenticationFail\.OIDCToken\.Expired"):
            async with OfRole(server, file).open():
                pass

    assert found == b"1"


async def test_what_waits_for_its_deletion_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, AlibabaHarness(server).open() as client:
        assert isinstance(client, Writer)
        for number in range(150):
            server.add(f"s-{number}", "1")
        await client.delete(RemoteTarget("s-149"))
        gone = await read(client, RemoteRef("s-149"))
        found = await finder(client).find(FindQuery(path="s-14"), unpaced, Work())
        with pytest.raises(Malformed, match=r"Rejected\.ResourceExist"):
            await client.push(PushItem("s-149", "", SecretBytes(b"2")))

    assert (gone, len(found or ())) == (None, 10)


async def test_where_a_new_secret_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"kmsInstanceID": "kst-1", "encryptionKeyID": "key-1"}
    envelope = {"apiVersion": "kubernetes.external-secrets.io/v1alpha1", "kind": "PushSecretMetadata"}
    async with served(monkeypatch) as server, AlibabaHarness(server).open() as client:
        assert isinstance(client, Writer)
        await client.push(PushItem("new", "", SecretBytes(b"1"), metadata={**envelope, "spec": options}))
        wrong = {**envelope, "spec": {"instance": "kst-1"}}
        with pytest.raises(Malformed, match="unknown field"):
            await client.push(PushItem("other", "", SecretBytes(b"1"), metadata=wrong))

    assert server.secrets["new"].place == ("kst-1", "key-1")


async def test_a_clock_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server, AlibabaHarness(server).open() as client:
        server.now = lambda: NOW + 3600
        with pytest.raises(Denied, match="the credentials are wrong or expired"):
            await read(client, RemoteRef("db"))
