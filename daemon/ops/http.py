"""The HTTP server: `/metrics`, `/healthz`, `/readyz` and, if it is opened, `/status`; all of them read-only.

A web page in a browser must not read them by a host name of its own that leads to this machine (DNS
rebinding): on a loopback address, and for `/status` on any, the name in the Host header has to be ours.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from syncret.config.resources.kinds import DELIVERY
from syncret.config.settings import MetricsTls, Settings
from syncret.config.settings_layers import address_of
from syncret.daemon.core.reviews import Reviews, Verdict
from syncret.daemon.homes.contract import HomeError
from syncret.daemon.ops import status
from syncret.daemon.ops.bind_errors import ELSEWHERE, cannot_listen
from syncret.daemon.ops.certificate_files import CertificateFiles
from syncret.daemon.ops.connections import serve as serve_application
from syncret.daemon.ops.failures import invalid_manifests
from syncret.daemon.ops.metrics import CONTENT_TYPE
from syncret.daemon.ops.series.deliveries import live_of
from syncret.daemon.ops.view import Serve, View
from syncret.providers.values import SecretBytes

BACKLOG: Final = 128
"""Connections that may wait while the daemon starts, or while too many are open."""


_RESTRICTED: Final = ("/metrics", "/status")
"""Paths that may be restricted to some clients; probes are open to all."""

_PLACES: Final = 3
"""The most invalid manifests, or Deliveries, that are named."""

_STATUS_ELSEWHERE: Final = """\
/status is served on the control socket: syncret status -o json, or
curl --unix-socket PATH http://syncret/status; the setting statusOnListen opens it here, too.
"""
_FOREIGN_HOST: Final = """\
The Host header names another machine. Use an IP address, localhost, or the host of the setting listen.
"""


@asynccontextmanager
async def http_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen at `settings.listen`, if it is set, until the block is left. Raises CannotListen."""
    async with _service(settings.listen, secured=settings.metrics_tls) as serve:
        yield serve


@asynccontextmanager
async def health_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen for probes alone at `settings.health_listen`, if it is set. Raises CannotListen."""
    async with _service(settings.health_listen, health_alone=True) as serve:
        yield serve


@asynccontextmanager
async def _service(
    listen: str, *, health_alone: bool = False, secured: MetricsTls | None = None
) -> AsyncGenerator[Serve, None]:
    if not listen:
        yield lambda _: nullcontext()
        return
    host = address_of(listen).host
    listeners = await listeners_at(listen)
    tls = CertificateFiles(secured).context if secured is not None and secured.enabled else None

    @asynccontextmanager
    async def serve(view: View) -> AsyncGenerator[None, None]:
        guard = host_guard(host, listeners)
        app = application(view, guard=guard, health_alone=health_alone)
        async with serve_application(app, listeners, tls=tls):
            if health_alone:
                view.health_address = display_address(host, listeners[0])
            else:
                view.address = display_address(host, listeners[0])
            yield

    try:
        yield serve
    finally:
        for listener in listeners:
            listener.close()


async def listeners_at(listen: str, *, hint: str = ELSEWHERE) -> list[socket.socket]:
    """A socket for each address of the host name, which already accepts connections. Raises CannotListen."""
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
        raise cannot_listen(listen, error, hint=hint) from error
    return listeners


def host_guard(host: str, listeners: Sequence[socket.socket]) -> Middleware:
    """Refuses foreign names in the Host header: on loopback for all paths, elsewhere for `/status` alone."""
    everywhere = all(ip_address(each.getsockname()[0]).is_loopback for each in listeners)
    ours = {"localhost", host.lower(), socket.gethostname().lower()}

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if (everywhere or request.path == "/status") and not _is_ours(request.headers.get("Host", ""), ours):
            return web.Response(text=_FOREIGN_HOST, status=421)
        return await handler(request)

    return guard


def _is_ours(host: str, ours: Collection[str]) -> bool:
    """Whether a Host header is empty (browsers always send one), has an IP address, or one of our names."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if not host or name in ours:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def application(view: View, *, guard: Middleware, health_alone: bool = False) -> web.Application:
    """The HTTP application with all routes, or those for probes alone."""

    async def get_metrics(request: web.Request) -> web.StreamResponse:
        return await stream_response(request, view.metrics.pieces(), {"Content-Type": CONTENT_TYPE})

    async def get_status(request: web.Request) -> web.StreamResponse:
        if not view.settings.status_on_listen:
            return web.Response(text=_STATUS_ELSEWHERE, status=404)
        return await stream_response(request, status.pieces(view), {"Content-Type": "application/json"})

    async def get_health(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")  # an answer shows that the event loop runs

    async def get_readiness(request: web.Request) -> web.Response:
        reason = undelivered(view) if request.query.get("delivered") == "1" else not_ready_reason(view)
        text = "".join(f"{line}\n" for line in (reason or "ok", *invalid_details(view)))
        return web.Response(text=text, status=503 if reason else 200)

    app = web.Application(middlewares=[guard, authorized(lambda: view.reviews)])
    if not health_alone:
        app.router.add_get("/metrics", get_metrics)
        app.router.add_get("/status", get_status)
    app.router.add_get("/healthz", get_health)
    app.router.add_get("/readyz", get_readiness)
    return app


def authorized(current: Callable[[], Reviews | None]) -> Middleware:
    """A middleware that, if configured, serves metrics and status only to clients that may read them."""

    @web.middleware
    async def authorize(request: web.Request, handler: Handler) -> web.StreamResponse:
        reviews = current()
        if reviews is None or request.path not in _RESTRICTED:
            return await handler(request)
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return _unknown()
        try:
            verdict = await reviews.check(SecretBytes(token.encode()), request.path)
        except HomeError:
            return web.Response(text="the API server does not say who this is\n", status=503)
        if verdict is Verdict.ALLOWED:
            return await handler(request)
        return _unknown() if verdict is Verdict.UNKNOWN else web.Response(text="forbidden\n", status=403)

    return authorize


def _unknown() -> web.Response:
    return web.Response(text="a token is needed\n", status=401, headers={"WWW-Authenticate": "Bearer"})


def not_ready_reason(view: View) -> str:
    """Why the daemon is not ready yet; empty if it is."""
    if view.cluster is not None:
        return "; ".join(view.cluster.not_ready(asyncio.get_running_loop().time()))
    engine = view.running.engine
    if engine.first_pass.is_set():
        return ""
    queue = engine.queue.stats()
    return f"the first pass is under way: {queue.ready} objects wait, {queue.running} are being worked on"


def undelivered(view: View) -> str:
    """Which Deliveries have nothing live yet; empty if all have, or if there are none and it is ready."""
    engine = view.running.engine
    if view.cluster is not None or not engine.delivered.is_set():
        reason = not_ready_reason(view)
        if reason:
            return reason
    found = view.running.inventory.list(DELIVERY.group_kind)
    missing = [str(stored.ref) for stored in found if not live_of(stored).generation]
    more = f", and {len(missing) - _PLACES} more" if len(missing) > _PLACES else ""
    return f"not live yet: {', '.join(missing[:_PLACES])}{more}" if missing else ""


def invalid_details(view: View) -> Iterator[str]:
    """Lines of `/readyz` about invalid manifests. The daemon stays ready: the others are delivered."""
    invalid = invalid_manifests(view.problems)
    if invalid:
        what = "1 manifest is" if len(invalid) == 1 else f"{len(invalid)} manifests are"
        more = ", ..." if len(invalid) > _PLACES else ""
        yield f"{what} invalid: {', '.join(each.place for each in invalid[:_PLACES])}{more}"


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


def display_address(host: str, listener: socket.socket) -> str:
    """The address in use: the host as configured, the port as bound."""
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host or "localhost"
    return f"{shown}:{port}"
