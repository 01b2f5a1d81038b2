"""BeyondTrust Workload Credentials passes the suite, on a server written from its published pages."""

import json
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.beyondtrustworkloadcredentials.dynamic_secret import DYNAMIC_SECRET
from syncret.providers.contract import Generated
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import finder, read
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, HoldsFields, RestHarness, read_only
from tests.support.opened import context
from tests.support.servers.beyondtrust_workload.server import SITE, WorkloadCredentials
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class WorkloadHarness(HoldsFields, RestHarness[WorkloadCredentials]):
    provider = "beyondtrustworkloadcredentials"
    lacks: Mapping[Ability, str] = {
        **read_only("as ESO has it, the store is read only"),
        Ability.VERSION: "as ESO has it, the current version is read",
    }

    def spec(self) -> Document:
        server = {"apiUrl": f"{self.server.url}/site", "siteId": SITE}
        return {"server": server, "auth": {"apikey": {"token": LOGIN}}}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.secrets[entry.key] = json.loads(entry.value)
            self.server.tags[entry.key] = dict(entry.tags)

    async def stored(self, key: str) -> bytes | None:
        raise AssertionError(f"nothing is pushed: {key}")


class TestBeyondtrustWorkloadCredentials(ProviderSuite):
    def found(self, harness: Harness, text: str) -> bytes:
        """A search yields each field of a secret by itself."""
        del harness
        return text.encode()

    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(WorkloadCredentials()) as server:
            yield WorkloadHarness(server)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(FindQuery(), {"shop/db/port", "shop/db/user", "shop/web/url", "root/a"}, id="all"),
        pytest.param(FindQuery(name="^d"), {"shop/db/port", "shop/db/user"}, id="by name"),
        pytest.param(FindQuery(path="shop/"), {"shop/db/port", "shop/db/user", "shop/web/url"}, id="by path"),
        pytest.param(FindQuery(tags=(("team", "mail"),)), {"shop/web/url"}, id="by tags"),
        pytest.param(FindQuery(path="none"), None, id="a path that does not exist"),
    ],
)
async def test_a_search(query: FindQuery, expected: set[str] | None) -> None:
    async with running(WorkloadCredentials()) as server:
        server.secrets = {
            "shop/db": {"user": "ada", "port": 5432},
            "shop/web": {"url": "u"},
            "root": {"a": "b"},
        }
        server.tags["shop/web"] = {"team": "mail"}
        async with WorkloadHarness(server).open() as client:
            found = await finder(client).find(query, unpaced, Work())

    assert (None if found is None else set(found)) == expected


@pytest.mark.parametrize("member", ["error", "code"])
async def test_a_secret_is_absent_in_the_words_of_the_api(member: str) -> None:
    document = {member: "not_found", "message": "no such secret"}
    async with running(WorkloadCredentials()) as server, WorkloadHarness(server).open() as client:
        with server.failing(lambda _request: web.json_response(document, status=404)):
            assert await read(client, RemoteRef("db")) is None


async def test_a_gateway_tells_nothing_of_a_secret() -> None:
    document = {"message": "no route matched"}
    async with running(WorkloadCredentials()) as server, WorkloadHarness(server).open() as client:
        with (
            server.failing(lambda _request: web.json_response(document, status=404)),
            pytest.raises(Malformed, match="HTTP 404, but not from BeyondTrust"),
        ):
            await read(client, RemoteRef("db"))


async def test_a_list_that_is_an_error() -> None:
    async with running(WorkloadCredentials()) as server, WorkloadHarness(server).open() as client:
        with (
            server.failing(lambda _request: web.json_response({"error": "unavailable"})),
            pytest.raises(Malformed, match="HTTP 200, but with an error"),
        ):
            await finder(client).find(FindQuery(), unpaced, Work())
        with server.failing(lambda _request: web.json_response({"data": None})):
            found = await finder(client).find(FindQuery(), unpaced, Work())

    assert found == {}


async def test_a_secret_without_a_value() -> None:
    async with running(WorkloadCredentials()) as server, WorkloadHarness(server).open() as client:
        server.secrets = {"gone": None, "db": {"user": "ada"}}
        found = await finder(client).find(FindQuery(), unpaced, Work())
        with pytest.raises(Malformed, match="it has no value"):
            await read(client, RemoteRef("gone"))

    assert set(found or ()) == {"db/user"}


def _generating(server: WorkloadCredentials, path: str) -> Awaitable[Generated]:
    assert DYNAMIC_SECRET.generate is not None
    harness = WorkloadHarness(server)
    document = {"provider": {**harness.spec(), "folderPath": path}}
    return DYNAMIC_SECRET.generate(
        msgspec.convert(document, DYNAMIC_SECRET.spec.model), context(harness.given)
    )


async def test_credentials_are_generated() -> None:
    async with running(WorkloadCredentials()) as server:
        generated = await _generating(server, "shop/aws")
        with pytest.raises(Malformed, match="missing secret name"):
            await _generating(server, "shop/")
        with pytest.raises(Malformed, match="HTTP 404"):
            await _generating(server, "shop/none")

    assert {name: value.raw.decode() for name, value in generated.values.items()} == {
        "accessKeyId": "AKIAEXAMPLE",
        "secretAccessKey": "canary-key",
        "leaseId": "l-1",
        "expiration": "2027-01-01T00:00:00Z",
        "sessionToken": "t",
    }
    assert generated.state is None
