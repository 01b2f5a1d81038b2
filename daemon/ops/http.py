"""HTTP for machines: `/metrics`, `/healthz`, `/readyz` and `/status`, without any way to change something."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Final

from aiohttp import web

from syncret.config.settings import Settings
from syncret.config.settings_layers import address_of
from syncret.daemon.ops import status
from syncret.daemon.ops.bind_errors import cannot_listen
from syncret.daemon.ops.metrics import CONTENT_TYPE
from syncret.daemon.ops.view import Serve, View

GOODBYE: Final = 1.0
"""Seconds that open connections get when the daemon stops."""

BACKLOG: Final = 128
"""Callers that may wait while the daemon begins."""


@asynccontextmanager
async def http_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen at `settings.listen`, if it is set, for as long as the block is open. Raises CannotListen."""
    if not settings.listen:
        yield lambda _: nullcontext()
        return
    host = address_of(settings.listen).host
    listeners = await _listeners(settings.listen)

    @asynccontextmanager
    async def serve(view: View) -> AsyncGenerator[None, None]:
        async with running(application(view)) as runner:
            for listener in listeners:
                await web.SockSite(runner, listener).start()
            view.address = _shown(host, listeners[0])
            yield

    try:
        yield serve
    finally:
        for listener in listeners:
            listener.close()


async def _listeners(listen: str) -> list[socket.socket]:
    """A socket for each address that the name stands for, with callers let in to wait."""
    address = address_of(listen)
    loop = asyncio.get_running_loop()
    listeners: list[socket.socket] = []
    try:
        # asyncio knows how to bind names, families and an empty host; this server itself serves nobody
        server = await loop.create_server(
            asyncio.Protocol, address.host or None, address.port, start_serving=False
        )
        async with server:
            listeners += (each.dup() for each in server.sockets)
        for listener in listeners:
            listener.listen(BACKLOG)
    except OSError as error:
        for listener in listeners:
            listener.close()
        raise cannot_listen(listen, error) from error
    return listeners


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


def _shown(host: str, listener: socket.socket) -> str:
    """The address in use; the host is told as it was asked for."""
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host or "localhost"
    return f"{shown}:{port}"
