"""Calls of an API: what names become, what refusals mean, logins that are renewed and ended."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager

import pytest
from aiohttp import web

from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http
from syncret.providers.kit.rest.api import Api, Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import FixedHeaders, Identity, LoggedIn
from syncret.providers.values import SecretBytes
from tests.support.opened import Clock, context
from tests.support.served import all_to, served

READ = Endpoint("GET", "/v1/items/{item}", "reading item {item}", "grant it", "check the vault")
REFUSALS = Refusals(
    vendor="Acme",
    check="check the URL",
    is_absent=lambda answer: answer.body == b"no such item",
    errors={409: lambda answer, _: Malformed(f"{answer.doing}: which one?")},
)


class Acme:
    """A manager that answers as it is told, and counts logins and their ends."""

    def __init__(self) -> None:
        self.url = ""
        self.status, self.body = 200, b"found"
        self.seen: list[tuple[str, str]] = []
        self.valid = "token-1"
        self.logins = 0
        self.ended: list[bytes] = []

    async def handle(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.seen.append((request.rel_url.raw_path, token))
        if token != self.valid:
            return web.Response(status=401)
        return web.Response(status=self.status, body=self.body)

    async def log_in(self) -> ExpiringValue[SecretBytes]:
        self.logins += 1
        return ExpiringValue(SecretBytes(self.valid.encode()))

    async def sign_out(self, token: SecretBytes) -> None:
        self.ended.append(token.raw)
        raise Denied("it was over already")


@pytest.fixture
async def acme() -> AsyncGenerator[Acme]:
    acme = Acme()
    async with served(all_to(acme.handle)) as acme.url:
        yield acme


def opened(acme: Acme, identity: Identity | None = None) -> AbstractAsyncContextManager[Api]:
    async def identify(_http: Http) -> Identity:
        return identity or FixedHeaders({"Authorization": f"Bearer {acme.valid}"})

    return connected(acme.url, context(), identify, REFUSALS)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        pytest.param("a", "/v1/items/a", id="plain"),
        pytest.param("a/../b?c#d", "/v1/items/a%2F..%2Fb%3Fc%23d", id="what would lead elsewhere"),
        pytest.param("ä {item} %", "/v1/items/%C3%A4%20%7Bitem%7D%20%25", id="unicode, braces, percent"),
    ],
)
async def test_names_stay_in_their_segment(acme: Acme, name: str, path: str) -> None:
    async with opened(acme) as api:
        await api.call(READ, item=name)

    assert acme.seen == [(path, "token-1")]


async def test_a_name_that_leads_out_of_its_path_is_refused(acme: Acme) -> None:
    async with opened(acme) as api:
        with pytest.raises(Malformed, match="cannot be part of a path"):
            await api.call(READ, item="..")

    assert acme.seen == []


@pytest.mark.parametrize(
    ("status", "body", "error", "message", "hint"),
    [
        pytest.param(403, b"", Denied, "reading item a: permission denied", "grant it", id="denied"),
        pytest.param(
            404, b"<html>", Malformed, "HTTP 404, but not from Acme", "check the vault", id="a proxy's 404"
        ),
        pytest.param(409, b"", Malformed, "reading item a: which one?", "", id="the vendor's own"),
    ],
)
async def test_refusals(
    acme: Acme, status: int, body: bytes, error: type[Exception], message: str, hint: str
) -> None:
    acme.status, acme.body = status, body
    async with opened(acme) as api:
        with pytest.raises(error, match=message) as caught:
            await api.look_up(READ, item="a")

    assert getattr(caught.value, "hint", None) == hint


async def test_absence_is_in_the_vendors_words_and_asked_for(acme: Acme) -> None:
    acme.status, acme.body = 404, b"no such item"
    async with opened(acme) as api:
        assert await api.look_up(READ, item="a") is None
        with pytest.raises(Malformed, match="HTTP 404"):
            await api.call(READ, item="a")


async def test_a_login_is_made_again_if_it_is_refused_and_ended_at_the_end(acme: Acme) -> None:
    identity = LoggedIn(acme.log_in, context(now=Clock()), sign_out=acme.sign_out)
    async with opened(acme, identity) as api:
        await api.call(READ, item="a")
        acme.valid = "token-2"
        answer: Answer = await api.call(READ, item="a")

    assert answer.body == b"found"
    assert (acme.logins, acme.ended) == (2, [b"token-2"])


async def test_a_store_that_cannot_log_in_does_not_open(acme: Acme) -> None:
    async def refused() -> ExpiringValue[SecretBytes]:
        raise Denied("wrong password")

    with pytest.raises(Denied, match="wrong password"):
        async with opened(acme, LoggedIn(refused, context(), sign_out=acme.sign_out)):
            pass

    assert acme.ended == []
