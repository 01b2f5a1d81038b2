"""Answers of secret managers: those of a right one, damaged, to real clients over HTTP."""

import asyncio
import atexit
import json
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import cache
from random import Random
from typing import Any, Final

import msgspec
from aiohttp import web

from syncret.providers.contract import Client, Finder, Reader
from syncret.providers.errors import SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.registry import Registry
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.fuzz import mutation
from tests.support.canary import ENCODED, leaks
from tests.support.opened import Given, context
from tests.support.served import all_to, served
from tests.support.servers.endless import LOGIN, Endless, credentials, environment, stores

LONGEST: Final = 20.0
"""Seconds by the clock for all calls of one case; the server answers at once."""

STORES: Final = tuple(sorted(stores("http://127.0.0.1:9")))
STATUS: Final = (200, 200, 201, 204, 301, 302, 304, 400, 401, 403, 404, 409, 412, 429, 500, 503)
HEADERS: Final[tuple[Mapping[str, str], ...]] = (
    {}, {}, {}, {"Retry-After": "9" * 400}, {"Retry-After": "-1"}, {"Retry-After": "Thu, 99 Foo"},
    {"Content-Type": "text/html"}, {"Content-Type": "application/json; charset=nonsense"},
    {"Location": "http://[::"}, {"Location": "/again"}, {"WWW-Authenticate": 'Bearer authorization="x'},
    {"Set-Cookie": "a" * 5000}, {"Content-Encoding": "gzip"}, {"Date": "never"},
)  # fmt: skip
_REGISTRY: Final = Registry()


class _Damaging:
    """A manager whose answers have accidents, the same for the same seed."""

    def __init__(self) -> None:
        self.manager = Endless(pages=2, page=3, value=ENCODED)
        self.chance = Random()  # noqa: S311  # accidents, not keys

    async def handle(self, request: web.Request) -> web.StreamResponse:
        answer: Any = await self.manager.answer(request)
        if not self.chance.randrange(3):
            answer = mutation.document(self.chance, [answer])
        text = json.dumps(answer)
        if not self.chance.randrange(3):
            text = mutation.text(self.chance, [text])
        status = self.chance.choice(STATUS) if not self.chance.randrange(4) else 200
        headers = {"Content-Type": "application/json", **self.chance.choice(HEADERS)}
        return web.Response(body=text.encode("utf-8", "surrogateescape"), status=status, headers=headers)


@cache
def _running() -> tuple[asyncio.Runner, _Damaging]:
    """One loop and one server for all cases of this process."""
    runner, damaging, stack = asyncio.Runner(), _Damaging(), AsyncExitStack()

    def close() -> None:
        runner.run(stack.aclose())
        runner.close()

    damaging.manager.url = runner.run(stack.enter_async_context(served(all_to(damaging.handle))))
    os.environ.update(environment(damaging.manager.url))
    atexit.register(close)
    return runner, damaging


def make(chance: Random) -> tuple[str, str]:
    """A store, and the seed of the accidents."""
    return chance.choice(STORES), str(chance.getrandbits(32))


def give(case: tuple[str, str]) -> None:
    """Ask for a value, a set and a search. What cannot be read is a SyncError that quotes nothing of it."""
    store, seed = case
    runner, damaging = _running()
    damaging.chance.seed(seed)
    told = runner.run(_asked(store, damaging.manager.url))
    found = [leak for error in told for leak in leaks("error", error)]
    assert not found, found


async def _asked(store: str, url: str) -> list[str]:
    login = {key: value.encode() for key, value in credentials(url).items()}
    [(name, document)] = stores(url)[store].items()
    provider = _REGISTRY.provider(name)
    assert provider.open is not None
    spec = msgspec.convert(document, provider.spec.model)
    told: list[str] = []
    async with asyncio.timeout(LONGEST):
        try:
            async with provider.open(spec, context(Given(secrets={LOGIN: login}))) as client:
                for ask in (_value, _fields, _found):
                    try:
                        await ask(client)
                    except SyncError as error:
                        told.append(f"{error} {error.hint}")
        except SyncError as error:
            told.append(f"{error} {error.hint}")
    return told


async def _value(client: Client) -> None:
    if isinstance(client, Reader):
        ref = RemoteRef("wanted", property="a")
        payloads = await client.fetch([ref.remote_key()])
        for payload in payloads.values():
            if isinstance(payload, SyncError):
                raise payload
            if payload is not None:
                client.value(payload, ref, Work())


async def _fields(client: Client) -> None:
    if isinstance(client, Reader):
        ref = RemoteRef("wanted")
        payloads = await client.fetch([ref.remote_key()])
        for payload in payloads.values():
            if isinstance(payload, SyncError):
                raise payload
            if payload is not None:
                client.fields(payload, ref, Work())


async def _found(client: Client) -> None:
    if isinstance(client, Finder):
        await client.find(FindQuery(name="wanted"), unpaced, Work())
