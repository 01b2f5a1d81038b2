"""Stands between a client and a real server: counts what passes, and fails on demand."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
from aiohttp import web
from yarl import URL

from tests.support.faults import Faulty
from tests.support.served import served

_OF_A_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}


class Passed(NamedTuple):
    """One request that was let through."""

    method: str
    path: str


class Gate(Faulty):
    """The way to one server."""

    def __init__(self, upstream: str, session: aiohttp.ClientSession) -> None:
        super().__init__()
        self.url = ""
        self.upstream = upstream
        self.passed: list[Passed] = []
        self._session = session

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.passed.append(Passed(request.method, request.rel_url.raw_path))
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OF_A_HOP}
        url = URL(self.upstream + str(request.rel_url), encoded=True)
        async with self._session.request(
            request.method, url, headers=headers, data=await request.read(), allow_redirects=False
        ) as response:
            kept = {name: value for name, value in response.headers.items() if name.lower() not in _OF_A_HOP}
            return web.Response(status=response.status, headers=kept, body=await response.read())


def broken(request: web.Request) -> web.StreamResponse:
    """The connection ends without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@asynccontextmanager
async def gate(upstream: str, trust: ssl.SSLContext | None = None) -> AsyncGenerator[Gate, None]:
    """A gate before a server, which may need to be trusted."""
    connector = aiohttp.TCPConnector(ssl=True if trust is None else trust)
    async with aiohttp.ClientSession(auto_decompress=False, connector=connector) as session:
        made = Gate(upstream, session)
        app = made.application([web.route("*", "/{path:.*}", made.handle)])
        async with served(app) as made.url:
            yield made
