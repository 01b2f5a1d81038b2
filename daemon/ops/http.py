"""The HTTP server: `/metrics`, `/healthz`, `/readyz` and `/status`, all of them read-only."""

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

SHUTDOWN_TIMEOUT: Final = 1.0
"""Seconds that open connections have to finish when the daemon stops."""

BACKLOG: Final = 128
"""Connections that may wait while the daemon starts."""


@asynccontextmanager
async def http_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen at `settings.listen`, if it is set, until the block is left. Raises CannotListen."""
    if not settings.listen:
        yield lambda _: nullcontext()
        return
    host = address_of(settings.listen).host
    listeners = await _listeners(settings.listen)

    @asynccontextmanager
    async def serve(view: View) -> AsyncGenerator[None, None]:
        async with app_runner(application(view)) as runner:
            for listener in listeners:
                await web.SockSite(runner, listener).start()
            view.address = _display_address(host, listeners[0])
            yield

    try:
        yield serve
    finally:
        for listener in listeners:
            listener.close()


async def _listeners(listen: str) -> list[socket.socket]:
    """A socket for each address of the host name, which already accepts connections."""
    address = address_of(listen)
    loop = asyncio.get_running_loop()
    listeners: list[socket.socket] = []
    try:
        # asyncio binds names, families and an empty host correctly; this server itself never serves
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
async def app_runner(app: web.Application) -> AsyncGenerator[web.AppRunner, None]:
    """A runner of the application, to which sites can be added."""
    runner = web.AppRunner(app, handle_signals=False, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT)
    await runner.setup()
    try:
        yield runner
    finally:
        await runner.cleanup()


def application(view: View) -> web.Application:
    """The HTTP application with all routes."""

    async def get_metrics(request: web.Request) -> web.StreamResponse:
        return await stream_response(request, view.metrics.pieces(), {"Content-Type": CONTENT_TYPE})

    async def get_status(request: web.Request) -> web.StreamResponse:
        return await stream_response(request, status.pieces(view), {"Content-Type": "application/json"})

    async def get_health(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")  # an answer shows that the event loop runs

    async def get_readiness(_: web.Request) -> web.Response:
        reason = not_ready_reason(view)
        return web.Response(text=f"{reason or 'ok'}\n", status=503 if reason else 200)

    app = web.Application()
    app.router.add_get("/metrics", get_metrics)
    app.router.add_get("/status", get_status)
    app.router.add_get("/healthz", get_health)
    app.router.add_get("/readyz", get_readiness)
    return app


def not_ready_reason(view: View) -> str:
    """Why the daemon is not ready yet; empty if it is."""
    engine = view.running.engine
    if engine.first_pass.is_set():
        return ""
    queue = engine.queue.stats()
    return f"the first pass is under way: {queue.ready} objects wait, {queue.running} are being worked on"


async def stream_response(
    request: web.Request, pieces: AsyncIterator[bytes], headers: dict[str, str]
) -> web.StreamResponse:
    """Send the pieces no faster than the client reads them; ends when the client disconnects."""
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    async for piece in pieces:
        await response.write(piece)
        await asyncio.sleep(0)
    await response.write_eof()
    return response


def _display_address(host: str, listener: socket.socket) -> str:
    """The address in use: the host as configured, the port as bound."""
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host or "localhost"
    return f"{shown}:{port}"
