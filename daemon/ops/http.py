"""HTTP for machines: `/metrics`, `/healthz`, `/readyz` and `/status`, without any way to change something."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from syncret.config.settings_layers import address_of
from syncret.daemon.ops import status
from syncret.daemon.ops.listening import cannot_listen
from syncret.daemon.ops.metrics import CONTENT_TYPE
from syncret.daemon.ops.view import View

GOODBYE: Final = 1.0
"""Seconds that open connections get when the daemon stops."""


@asynccontextmanager
async def serve_http(view: View) -> AsyncGenerator[None, None]:
    """Serve at `settings.listen`, if it is set, for as long as the block is open. Raises CannotListen."""
    listen = view.settings.listen
    if not listen:
        yield
        return
    address = address_of(listen)
    async with running(application(view)) as runner:
        try:
            site = web.TCPSite(runner, address.host or None, address.port)
            await site.start()
        except OSError as error:
            raise cannot_listen(listen, error) from error
        view.address = _bound(runner, address.host)
        yield


@asynccontextmanager
async def running(app: web.Application) -> AsyncGenerator[web.AppRunner, None]:
    """The application, ready for sites."""
    runner = web.AppRunner(app, handle_signals=False, access_log=None, shutdown_timeout=GOODBYE)
    await runner.setup()
    try:
        yield runner
    finally:
        await runner.cleanup()


def application(view: View) -> web.Application:
    """All routes."""

    async def metrics(request: web.Request) -> web.StreamResponse:
        return await streamed(request, view.metrics.pieces(), {"Content-Type": CONTENT_TYPE})

    async def told(request: web.Request) -> web.StreamResponse:
        return await streamed(request, status.pieces(view), {"Content-Type": "application/json"})

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")  # whoever can say so has a loop that turns

    async def ready(_: web.Request) -> web.Response:
        reason = unready(view)
        return web.Response(text=f"{reason or 'ok'}\n", status=503 if reason else 200)

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/status", told)
    app.router.add_get("/healthz", healthy)
    app.router.add_get("/readyz", ready)
    return app


def unready(view: View) -> str:
    """Why the daemon is not ready yet, or nothing."""
    engine = view.controllers.engine
    if engine.first_pass.is_set():
        return ""
    queue = engine.queue.stats()
    return f"the first pass is under way: {queue.ready} objects wait, {queue.running} are being worked on"


async def streamed(
    request: web.Request, pieces: AsyncIterator[bytes], headers: dict[str, str]
) -> web.StreamResponse:
    """Send what is made, as fast as it is taken; a client that left ends it."""
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    async for piece in pieces:
        await response.write(piece)
        await asyncio.sleep(0)
    await response.write_eof()
    return response


def _bound(runner: web.AppRunner, host: str) -> str:
    """The address in use; the host is told as it was asked for."""
    port = runner.addresses[0][1]
    shown = f"[{host}]" if ":" in host else host or "localhost"
    return f"{shown}:{port}"
