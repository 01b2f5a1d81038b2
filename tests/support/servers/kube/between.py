"""Stands between a client and an API server: lets all through, watches too, or answers itself."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import aiohttp
from aiohttp import web
from yarl import URL

from tests.support.served import all_to, served
from tests.support.servers.kube.running import KubeApi

_OF_A_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}


Before: TypeAlias = Callable[[web.Request, bytes], web.Response | None]
"""Is asked before each request passes; None lets it pass."""


def refused(code: int, reason: str, **headers: str) -> web.Response:
    """A Status, as the API server would word it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return web.json_response({**body, "message": "the test says so"}, status=code, headers=headers)


def is_watch(request: web.Request) -> bool:
    """Whether a request is answered for as long as somebody listens."""
    return "watch" in request.query


@asynccontextmanager
async def between(
    api: KubeApi, before: Before, *, delay: Callable[[web.Request], float] = lambda _: 0.0
) -> AsyncGenerator[str]:
    """The URL by which the API server is reached, without TLS, for as long as the block lasts.

    `delay`: for how many seconds the answer to a request is held back.
    """
    connector = aiohttp.TCPConnector(ssl=api.trust, limit=0)
    async with aiohttp.ClientSession(auto_decompress=False, connector=connector) as session:

        async def handle(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            instead = before(request, body)
            if instead is not None:
                return instead
            headers = {
                each: value for each, value in request.headers.items() if each.lower() not in _OF_A_HOP
            }
            url = URL(api.url + str(request.rel_url), encoded=True)
            async with session.request(request.method, url, headers=headers, data=body or None) as answer:
                await asyncio.sleep(delay(request))
                kept = {
                    each: value for each, value in answer.headers.items() if each.lower() not in _OF_A_HOP
                }
                response = web.StreamResponse(status=answer.status, headers=kept)
                await response.prepare(request)
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                return response

        async with served(all_to(handle)) as url:
            yield url
