"""ngrok passes the part of the suite that writes, on a server written from its published reference."""

import json
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import secret, writer
from syncret.providers.values import SecretBytes
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.ngrok.server import Ngrok
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

WRITE_ONLY = "ngrok shows the values of its vaults to nobody"
NO_PARTS = "a secret in ngrok is one text, and a property is ignored"


class NgrokHarness(RestHarness[Ngrok]):
    provider = "ngrok"
    lacks: Mapping[Ability, str] = {
        Ability.READ: WRITE_ONLY,
        Ability.FIND_NAME: WRITE_ONLY,
        Ability.FIND_PATH: WRITE_ONLY,
        Ability.FIND_TAGS: WRITE_ONLY,
        Ability.PUSH_PROPERTY: NO_PARTS,
        Ability.DELETE_PROPERTY: NO_PARTS,
        Ability.OWN: "as ESO has it, a push replaces whatever has the name",
    }
    vault = "shop"

    def spec(self) -> Document:
        auth = {"apiKey": {"secretRef": LOGIN}}
        return {"apiUrl": self.server.url, "vault": {"name": self.vault}, "auth": auth}

    async def seed(self, *entries: Entry) -> None:
        raise AssertionError(f"nothing is read: {entries}")

    async def stored(self, key: str) -> bytes | None:
        found = self.server.value_of(key)
        return None if found is None else found.encode()


class TestNgrok(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Ngrok()) as server:
            yield NgrokHarness(server)


def spec(**options: object) -> Document:
    head = {"apiVersion": "kubernetes.external-secrets.io/v1alpha1", "kind": "PushSecretMetadata"}
    return {**head, "spec": options}


async def test_a_whole_secret_and_its_metadata() -> None:
    source = secret({"a": b"1", "b": b"\xff"})
    whole = json.dumps(
        {"a": b64encode(b"1").decode(), "b": b64encode(b"\xff").decode()}, separators=(",", ":")
    )
    options = spec(description="of the shop", metadata={"team": "mail"})
    async with running(Ngrok()) as server, NgrokHarness(server).open() as client:
        await writer(client).push(PushItem("all", "", SecretBytes(b"{}"), options, source=source))
        await writer(client).push(PushItem("all", "", SecretBytes(b"{}"), options, source=source))

    [held] = server.secrets.values()
    assert (held["value"], held["description"], server.writes) == (whole, "of the shop", 1)
    assert json.loads(held["metadata"]) == {"team": "mail", "_sha256": sha256(whole.encode()).hexdigest()}


async def test_a_vault_that_does_not_exist() -> None:
    class Elsewhere(NgrokHarness):
        vault = "none"

    async with running(Ngrok()) as server, Elsewhere(server).open() as client:
        await writer(client).delete(RemoteTarget("a"))
        there = await writer(client).exists(RemoteTarget("a"))
        with pytest.raises(Malformed, match="vault none does not exist"):
            await writer(client).push(PushItem("a", "", SecretBytes(b"1"), secret_key="k"))

    assert not there


async def test_a_secret_of_another_vault_is_left_alone() -> None:
    async with running(Ngrok()) as server, NgrokHarness(server).open() as client:
        other = {"name": "a", "vault_id": "vault_1", "value": "theirs", "description": "", "metadata": ""}
        server.secrets["secret_0"] = other
        await writer(client).push(PushItem("a", "", SecretBytes(b"1"), secret_key="k"))
        await writer(client).delete(RemoteTarget("a"))

    assert server.value_of("a", "vault_1") == "theirs"
    assert server.value_of("a") is None
