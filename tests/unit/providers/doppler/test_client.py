"""Logins, ETags, names and spellings, on a server written from Doppler's published reference."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from syncret.config.catalog import Scope
from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.contract import IssuedToken
from syncret.providers.doppler import PROVIDER
from syncret.providers.doppler.client import DopplerClient
from syncret.providers.doppler.connection import open_store
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import NOW, Clock, Given, context
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.rest import running
from tests.support.specs import spec_of


@pytest.fixture
async def doppler(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Doppler]:
    async with running(Doppler()) as server:
        monkeypatch.setenv("DOPPLER_BASE_URL", server.url)
        server.secrets |= {"DB_USER": "ada", "DB_PASSWORD": "correct", "WEB": "{}"}
        yield server


NAMESPACED = Scope(cluster=False, namespace="default")
CLUSTER = Scope(cluster=True)
OIDC: Document = {"oidcConfig": {"identity": "id-1", "serviceAccountRef": {"name": "app"}}}


def opened(
    doppler: Doppler, clock: Clock | None = None, auth: Json = None, given: Given | None = None, **spec: Json
) -> AbstractAsyncContextManager[DopplerClient]:
    given = given or Given(secrets={"login": {"dopplerToken": f" {doppler.token}\n".encode()}})
    auth = auth or {"secretRef": {"dopplerToken": {"name": "login"}}}
    return open_store(spec_of(PROVIDER, {"auth": auth, **spec}), context(given, now=clock or Clock()))


async def read(client: DopplerClient, *names: str) -> dict[str, object]:
    found = await client.fetch([RemoteKey(name) for name in names])
    return {key.key: value for key, value in found.items()}


async def test_a_service_token_needs_neither_project_nor_config(doppler: Doppler) -> None:
    async with opened(doppler) as client:
        found = await read(client, "DB_USER", "GONE", "WEB")

    assert found == {"DB_USER": SecretBytes(b"ada"), "WEB": SecretBytes(b"{}")}
    assert doppler.calls == [
        "GET /v3/configs/config/secrets/download?format=json&secrets=DB_USER%2CGONE%2CWEB"
    ]


async def test_an_unchanged_config_moves_no_body(doppler: Doppler) -> None:
    statuses: list[int] = []
    async with opened(doppler) as client:
        first = await read(client, "DB_USER")
        with doppler.failing(lambda request: statuses.append("If-None-Match" in request.headers)):
            second = await read(client, "DB_USER")
            doppler.secrets["DB_USER"] = "eve"
            third = await read(client, "DB_USER")

    assert first == second == {"DB_USER": SecretBytes(b"ada")}
    assert third == {"DB_USER": SecretBytes(b"eve")}
    assert statuses == [True, True]


async def test_a_name_that_would_ask_for_others_is_refused_alone(doppler: Doppler) -> None:
    async with opened(doppler) as client:
        found = await read(client, "DB_USER,WEB", "WEB")

    assert found["WEB"] == SecretBytes(b"{}")
    assert isinstance(found["DB_USER,WEB"], Malformed)


async def test_names_that_are_too_many_for_a_url_are_taken_from_the_whole_config(doppler: Doppler) -> None:
    names = ["DB_USER", *(f"{'X' * 200}_{number}" for number in range(40))]
    async with opened(doppler) as client:
        assert await read(client, *names) == {"DB_USER": SecretBytes(b"ada")}

    assert doppler.calls == ["GET /v3/configs/config/secrets/download?format=json"]


async def test_another_config_is_no_absence(doppler: Doppler) -> None:
    async with opened(doppler, project="shop", config="dev") as client:
        with pytest.raises(Malformed, match="HTTP 404") as caught:
            await read(client, "DB_USER")

    assert "check project and config" in caught.value.hint


@pytest.mark.parametrize(
    ("spec", "query", "expected"),
    [
        pytest.param({}, FindQuery(path="DB_"), {"DB_USER": "ada", "DB_PASSWORD": "correct"}, id="prefix"),
        pytest.param(
            {"nameTransformer": "lower-kebab"}, FindQuery(name="^db-u"), {"db-user": "ada"}, id="spelled"
        ),
        pytest.param(
            {"format": "env"},
            FindQuery(),
            {"DOPPLER_SECRETS_FILE": 'DB_PASSWORD="correct"\nDB_USER="ada"\nWEB="{}"\n'},
            id="file",
        ),
    ],
)
async def test_searches(doppler: Doppler, spec: Document, query: FindQuery, expected: dict[str, str]) -> None:
    async with opened(doppler, **spec) as client:
        found = await client.find(query, unpaced, Work())

    assert {name: value.raw.decode() for name, value in found.items()} == expected


async def test_an_identity_is_exchanged_and_renewed(doppler: Doppler) -> None:
    given = Given(tokens={"app": IssuedToken(SecretBytes(b"jwt-1"), NOW + 600)})
    doppler.identities["id-1"] = "jwt-1"
    doppler.expires = datetime.fromtimestamp(NOW, UTC) + timedelta(hours=1)
    clock = Clock()
    async with opened(doppler, clock, auth=OIDC, given=given) as client:
        await read(client, "DB_USER")
        clock.time += 3600
        doppler.expires += timedelta(hours=1)
        await read(client, "DB_USER")

    assert doppler.logins == 2
    assert given.asked == [("app", (doppler.url, "secretStore:default:test"), 600)] * 2


@pytest.mark.parametrize(
    ("scope", "audiences", "expected"),
    [
        pytest.param(NAMESPACED, [], ("URL", "secretStore:default:test"), id="namespaced"),
        pytest.param(NAMESPACED, ["a", "b"], ("a", "b", "secretStore:default:test"), id="named"),
        pytest.param(CLUSTER, ["a"], ("a", "clusterSecretStore:test"), id="cluster-scoped"),
    ],
)
async def test_a_token_is_for_one_store(
    doppler: Doppler, scope: Scope, audiences: list[str], expected: tuple[str, ...]
) -> None:
    """The operator's users have Doppler expect the audience of the store."""
    given = Given(tokens={"app": IssuedToken(SecretBytes(b"jwt-1"), NOW + 600)})
    doppler.identities["id-1"] = "jwt-1"
    account = {"name": "app", "namespace": "default", "audiences": audiences}
    auth = {"oidcConfig": {"identity": "id-1", "serviceAccountRef": account}}
    async with open_store(spec_of(PROVIDER, {"auth": auth}), context(given, scope=scope)):
        pass

    [(_, asked, _)] = given.asked
    assert asked == tuple(each.replace("URL", doppler.url) for each in expected)


async def test_an_identity_that_does_not_trust_the_token(doppler: Doppler) -> None:
    given = Given(tokens={"app": IssuedToken(SecretBytes(b"jwt-2"), NOW + 600)})
    with pytest.raises(Denied, match=r"the login is refused \(HTTP 401\)") as caught:
        async with opened(doppler, auth=OIDC, given=given):
            pass

    assert "oidcConfig.identity" in caught.value.hint
    assert "the audience secretStore:default:test" in caught.value.hint


async def test_a_push_with_a_property_is_whole_as_in_the_operator(doppler: Doppler) -> None:
    async with opened(doppler) as client:
        await client.push(PushItem("NEW", "ignored", SecretBytes(json.dumps({"a": "b"}).encode())))

    assert doppler.secrets["NEW"] == '{"a": "b"}'


async def test_a_wrong_name_is_the_servers_to_refuse(doppler: Doppler) -> None:
    async with opened(doppler) as client:
        with pytest.raises(Malformed, match="changing secret lower: HTTP 400"):
            await client.push(PushItem("lower", "", SecretBytes(b"x")))


async def test_html_is_told_as_that(doppler: Doppler) -> None:
    def page(_request: web.Request) -> web.Response:
        return web.Response(text="<html>", content_type="text/html")

    async with opened(doppler) as client:
        with doppler.failing(page), pytest.raises(Malformed, match="the answer is HTML, not JSON"):
            await read(client, "DB_USER")
