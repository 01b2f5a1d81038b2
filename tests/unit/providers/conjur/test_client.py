"""Logins, batches that fail in part, searches by page, on a server written from Conjur's reference."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.conjur import PROVIDER
from syncret.providers.conjur.client import ConjurClient
from syncret.providers.conjur.connection import api_url, open_store
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import NOW, Clock, Given, context
from tests.support.served import all_to, served
from tests.support.servers.conjur.server import Conjur
from tests.support.servers.rest import running
from tests.support.specs import spec_of
from tests.support.tls import Authority

APIKEY: Document = {
    "apikey": {
        "account": "acme",
        "userRef": {"name": "login", "key": "host"},
        "apiKeyRef": {"name": "login", "key": "key"},
    }
}
JWT: Document = {"account": "acme", "serviceID": "prod"}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def conjur(clock: Clock) -> AsyncIterator[Conjur]:
    async with running(Conjur(clock)) as server:
        server.versions |= {"db/password": [b"old", b"new"], "bin": [b"\x00\xff"], "web": [b"w"]}
        yield server


def opened(
    conjur: Conjur, clock: Clock, auth: Json = None, given: Given | None = None
) -> AbstractAsyncContextManager[ConjurClient]:
    login = {"host": f"{conjur.host}\n".encode(), "key": f"{conjur.key}\n".encode(), "token": b"jwt-2\n"}
    given = given or Given(secrets={"login": login})
    spec = spec_of(PROVIDER, {"url": conjur.url, "auth": auth or APIKEY})
    return open_store(spec, context(given, now=clock))


async def read(client: ConjurClient, *names: str) -> dict[str, object]:
    return {
        key.key: value for key, value in (await client.fetch([RemoteKey(name) for name in names])).items()
    }


async def test_a_batch_is_one_call_and_a_token_lasts_eight_minutes(conjur: Conjur, clock: Clock) -> None:
    async with opened(conjur, clock) as client:
        found = await read(client, "db/password", "web")
        clock.time += 481
        await read(client, "web")

    ids = "acme:variable:db/password,acme:variable:web"
    assert found == {"db/password": SecretBytes(b"new"), "web": SecretBytes(b"w")}
    assert conjur.calls == [
        f"GET /secrets?variable_ids={quote(ids, safe='')}",
        "GET /secrets/acme/variable/web",
    ]
    assert conjur.logins == ["/authn/acme/host/apps/shop/authenticate"] * 2


async def test_what_spoils_a_batch_is_read_by_itself(conjur: Conjur, clock: Clock) -> None:
    conjur.refused.add("web")
    async with opened(conjur, clock) as client:
        found = await read(client, "db/password", "bin", "web", "gone")

    assert (found["db/password"], found["bin"]) == (SecretBytes(b"new"), SecretBytes(b"\x00\xff"))
    assert isinstance(found["web"], Denied)
    gone = found["gone"]
    assert isinstance(gone, Malformed)
    assert "variable gone does not exist" in gone.message
    assert "may not see it" in gone.hint


@pytest.mark.parametrize("part", [pytest.param("x" * 300, id="plain"), pytest.param("a/" * 75, id="quoted")])
async def test_many_long_names_are_several_batches(conjur: Conjur, clock: Clock, part: str) -> None:
    """No request is longer than nginx takes (8 KiB) or Puma (10 KiB); nor is any variable read alone."""
    names = [f"{part}/{number}" for number in range(50)]
    conjur.versions |= {name: [b"v"] for name in names}
    async with opened(conjur, clock) as client:
        assert len(await read(client, *names)) == 50
        assert len(conjur.calls) == 3
        assert len(await client.find(FindQuery(name=part), unpaced, Work())) == 50

    assert len(conjur.calls) == 7
    assert max(len(call) for call in conjur.calls) < 8000


@pytest.mark.parametrize(
    ("auth", "path"),
    [
        pytest.param({"serviceAccountRef": {"name": "app"}}, "prod/acme", id="a ServiceAccount"),
        pytest.param(
            {"secretRef": {"name": "login"}, "hostId": "host/a"}, "prod/acme/host/a", id="a Secret and a host"
        ),
    ],
)
async def test_jwts(conjur: Conjur, clock: Clock, auth: Document, path: str) -> None:
    conjur.jwts = {"jwt-1", "jwt-2"}
    tokens = {"app": IssuedToken(SecretBytes(b"jwt-1"), NOW + 600)}
    given = Given(secrets={"login": {"token": b"jwt-2\n"}}, tokens=tokens)
    async with opened(conjur, clock, {"jwt": {**JWT, **auth}}, given) as client:
        assert await read(client, "web") == {"web": SecretBytes(b"w")}

    assert conjur.logins == [f"/authn-jwt/{path}/authenticate"]


async def test_a_jwt_that_is_not_trusted(conjur: Conjur, clock: Clock) -> None:
    auth = {"jwt": {**JWT, "secretRef": {"name": "login"}}}
    with pytest.raises(Denied, match=r"by jwt: the login is refused \(HTTP 401\)") as caught:
        async with opened(conjur, clock, auth):
            pass

    assert "does it trust this issuer" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "path"),
    [
        pytest.param({}, "", id="by its SPIFFE ID"),
        pytest.param({"hostId": "host/apps/shop"}, "/host/apps/shop", id="a role"),
        pytest.param({"hostId": "apps/shop"}, "/host/apps/shop", id="a name"),
    ],
)
async def test_a_client_certificate_is_shown(clock: Clock, tmp_path: Path, host: Document, path: str) -> None:
    """Conjur's nginx asks for it in the handshake, and passes it on to the authenticator."""
    authority = Authority()
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        seen.append(request.path)
        assert request.transport.get_extra_info("peercert")
        payload = b64encode(b'{"iat": 1}').decode()
        return web.json_response({"protected": "", "payload": payload, "signature": ""})

    certificate, key = authority.pair("shop")
    given = Given(secrets={"tls": {"tls.crt": certificate, "tls.key": key}})
    cert = {
        "clientCertRef": {"name": "tls", "key": "tls.crt"},
        "clientKeyRef": {"name": "tls", "key": "tls.key"},
    }
    async with served(all_to(answer), authority.server(tmp_path, clients=True)) as url:
        document: Document = {
            "url": url,
            "caBundle": authority.pem.decode(),
            "auth": {"cert": {**JWT, **cert, **host}},
        }
        async with open_store(spec_of(PROVIDER, document), context(given, now=clock)) as client:
            assert await client.probe() == "ready"

    assert seen == [f"/authn-cert/prod/acme{path}/authenticate"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://shop.secretsmgr.cyberark.cloud", "https://shop.secretsmgr.cyberark.cloud/api"),
        ("https://shop-secretsmanager.cyberark.cloud/", "https://shop-secretsmanager.cyberark.cloud/api"),
        ("https://Shop.SecretsMgr.CyberArk.Cloud:443", "https://Shop.SecretsMgr.CyberArk.Cloud:443/api"),
        *(
            (same, same)
            for same in (
                "https://shop.secretsmgr.cyberark.cloud/api",
                "http://shop.secretsmgr.cyberark.cloud",
                "https://conjur.example.com",
                "https://conjur.example.com/shop.secretsmgr.cyberark.cloud",
                "https://shop.secretsmgr.cyberark.cloud.example.com",
                "https://xsecretsmgr.cyberark.cloud",
            )
        ),
    ],
)
def test_the_api_of_conjur_cloud(url: str, expected: str) -> None:
    assert api_url(url) == expected


async def test_a_token_that_is_encoded_for_urls(conjur: Conjur, clock: Clock) -> None:
    conjur.host = "host/~~~"
    async with opened(conjur, clock) as client:
        assert await read(client, "web") == {"web": SecretBytes(b"w")}

    assert "-" in json.loads(conjur.token)["payload"]


async def test_an_answer_that_is_no_token(clock: Clock) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"payload": "canary"})

    given = Given(secrets={"login": {"host": b"h", "key": b"k"}})
    async with served(all_to(answer)) as url:
        spec = spec_of(PROVIDER, {"url": url, "auth": APIKEY})
        with pytest.raises(Malformed, match="the answer is no token of Conjur"):
            async with open_store(spec, context(given, now=clock)):
                pass


async def test_searches_follow_pages(conjur: Conjur, clock: Clock) -> None:
    conjur.versions |= {f"n/{number:03}": [b"v"] for number in range(250)}
    conjur.annotations["db/password"] = {"team": "a", "env": "x"}
    async with opened(conjur, clock) as client:
        named = await client.find(FindQuery(name="^n/"), unpaced, Work())
        tagged = await client.find(FindQuery(tags=(("team", "a"),)), unpaced, Work())

    assert len(named) == 250
    assert dict(tagged) == {"db/password": SecretBytes(b"new")}
    assert sum("/resources/" in call for call in conjur.calls) == 6
    assert sum("/secrets?" in call for call in conjur.calls) == 250 // 50 + 1
