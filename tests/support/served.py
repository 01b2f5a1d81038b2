"""Runs an aiohttp application on a free port of loopback."""

import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from aiohttp import web

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


def all_to(handler: Handler) -> web.Application:
    """An application that has one answer to everything."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    return app


@asynccontextmanager
async def served(
    app: web.Application, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncGenerator[str, None]:
    """Its URL, for as long as the block lasts; on a free port, if none is given."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls)
        await site.start()
        [address] = runner.addresses
        yield f"{'https' if tls else 'http'}://127.0.0.1:{address[1]}"
    finally:
        await runner.cleanup()
