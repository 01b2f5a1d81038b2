"""Previder Vault passes the suite, on a server written from its published client."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import finder, read
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, RestHarness, read_only
from tests.support.servers.previder.server import Previder
from tests.support.servers.rest import Refused, running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

WHOLE = "as ESO has it, secrets in Previder Vault are read whole: a property is ignored"


class PreviderHarness(RestHarness[Previder]):
    provider = "previder"
    lacks: Mapping[Ability, str] = {
        **read_only("the API has no way to change a secret, and ESO's previder provider is read only"),
        Ability.ABSENCE: "what the API says of a secret that does not exist is not published",
        Ability.PROPERTY: WHOLE,
        Ability.MAP: WHOLE,
        Ability.VERSION: "secrets in Previder Vault have no versions",
        Ability.FIND_PATH: "secrets in Previder Vault have no path",
        Ability.FIND_TAGS: "secrets in Previder Vault have no tags",
    }

    def spec(self) -> Document:
        return {"baseUri": self.server.url, "auth": {"secretRef": {"accessToken": LOGIN}}}

    async def seed(self, *entries: Entry) -> None:
        self.server.secrets |= {entry.key: entry.value.decode() for entry in entries}

    async def stored(self, key: str) -> bytes | None:
        raise AssertionError(f"nothing is pushed: {key}")


class TestPrevider(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Previder()) as server:
            yield PreviderHarness(server)


async def test_a_token_that_only_decrypts() -> None:
    async with running(Previder()) as server, PreviderHarness(server).open() as client:
        server.secrets["db"], server.kind = "1", "ReadOnly"
        found = await read(client, RemoteRef("db"))
        with pytest.raises(Denied, match="listing secrets") as caught:
            await finder(client).find(FindQuery(name="."), unpaced, Work())

    assert found == b"1"
    assert "ReadWrite" in caught.value.hint


async def test_a_secret_that_goes_during_a_search() -> None:
    async with running(Previder()) as server, PreviderHarness(server).open() as client:
        server.secrets = {"a": "1", "b": "2"}

        def delete(request: web.Request) -> None:
            if request.path.endswith("/decrypt"):
                server.secrets.pop("b", None)

        with server.failing(delete):
            found = await finder(client).find(FindQuery(name="."), unpaced, Work())
        with pytest.raises(Malformed, match="there is no secret b"):
            await read(client, RemoteRef("b"))

    assert found == {"a": SecretBytes(b"1")}


async def test_a_secret_that_is_still_listed_is_not_gone() -> None:
    async with running(Previder()) as server, PreviderHarness(server).open() as client:
        server.secrets = {"a": "1"}
        elsewhere = Refused(404, "no route")
        with (
            server.failing(lambda request: elsewhere.response() if "/decrypt" in request.path else None),
            pytest.raises(Malformed, match="there is no secret id-a"),
        ):
            await finder(client).find(FindQuery(name="."), unpaced, Work())
