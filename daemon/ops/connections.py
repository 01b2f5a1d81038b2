"""Accepts the connections of an HTTP server: limits their number, and closes those without a request.

Neither idle clients nor a shortage of descriptors affects the rest of the daemon. asyncio's own server
accepts without bound, and logs an error for each connection that it cannot accept.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeAlias, cast

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler

from syncret.daemon.descriptors import descriptors
from syncret.daemon.ops.logs.repeats import Repeats, counted

REQUEST_WITHIN: Final = 10.0
"""Seconds in which a connection has to send its first request, or the next one."""

RESPONSE_WITHIN: Final = 60.0
"""Seconds in which a client has to take the response."""

SHUTDOWN_TIMEOUT: Final = 1.0
"""Seconds that open connections have to finish when the daemon stops."""

HANDSHAKE_WITHIN: Final = 5.0
"""Seconds that a TLS handshake may take."""

ACCEPT_PAUSE: Final = 1.0
"""Seconds until the next try, if no connection can be accepted."""

_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_FATAL: Final = {errno.EBADF, errno.EINVAL, errno.ENOTSOCK, errno.EOPNOTSUPP}

log = structlog.get_logger()

TlsContext: TypeAlias = Callable[[], ssl.SSLContext | None]


@asynccontextmanager
async def serve(
    app: web.Application,
    listeners: Sequence[socket.socket],
    *,
    most: int | None = None,
    idle: float | None = None,
    tls: TlsContext | None = None,
) -> AsyncGenerator[None, None]:
    """Serve the application on listening sockets until the block is left.

    `most` connections are open at the same time; by default, the share of a server in the descriptors. One
    without a request is closed after `idle` seconds. `tls` gives the context of each new connection; while
    it gives none, connections are closed.
    """
    idle = REQUEST_WITHIN if idle is None else idle
    connections = Connections(descriptors().server_connections if most is None else most, idle, tls)
    app.middlewares.append(connections.middleware)
    runner = web.AppRunner(
        app,
        handle_signals=False,
        access_log=None,
        shutdown_timeout=SHUTDOWN_TIMEOUT,
        keepalive_timeout=2 * idle,  # it is closed by us before
    )
    await runner.setup()
    server = runner.server
    if server is None:
        raise RuntimeError("a runner that is set up has a server")
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    connections.accept(listener, server), name=f"accept {listener.getsockname()}"
                )
                for listener in listeners
            ]
            yield
            for task in tasks:
                task.cancel()
    finally:
        await runner.cleanup()


class Connections:
    """The open connections of a server. If there are too many, a new one replaces the longest idle one."""

    def __init__(self, most: int, idle: float, tls: TlsContext | None = None) -> None:
        self._most = most
        self._seconds = idle
        self._tls = tls
        self._handshakes = asyncio.Semaphore(most)
        self._idle: dict[object, _Connection] = {}
        """By handler; the longest idle one is the first."""
        self._busy: dict[object, _Connection] = {}
        self._left = asyncio.Event()
        self._repeats = Repeats()

    async def accept(self, listener: socket.socket, new_handler: Callable[[], RequestHandler]) -> None:
        """Accept connections until cancelled; while all of them are busy, new ones wait."""
        if self._tls is None:
            async for accepted in self._accepted(listener):
                await self._attach(accepted, new_handler(), None)
            return
        async with asyncio.TaskGroup() as group:  # a slow handshake delays no other connection
            async for accepted in self._accepted(listener):
                await self._handshakes.acquire()
                group.create_task(self._shake_hands(accepted, new_handler()), name="TLS handshake")

    async def _accepted(self, listener: socket.socket) -> AsyncGenerator[socket.socket]:
        loop = asyncio.get_running_loop()
        listener.setblocking(False)  # noqa: FBT003  # as the standard library has it
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as error:
                if error.errno in _FATAL:
                    raise
                await self._not_accepted(error)
                continue
            yield accepted

    async def _shake_hands(self, accepted: socket.socket, handler: RequestHandler) -> None:
        try:
            context = None if self._tls is None else self._tls()
            if context is None:
                accepted.close()
            else:
                await self._attach(accepted, handler, context)
        except OSError:
            log.debug("a TLS handshake failed")
        finally:
            self._handshakes.release()

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Marks the connection of a request as busy until it is answered."""
        connection = self._idle.pop(request.protocol, None) or self._busy.get(request.protocol)
        if connection is None:  # it was closed meanwhile
            return await handler(request)
        self._busy[request.protocol] = connection
        connection.requests += 1
        connection.expire(RESPONSE_WITHIN)
        try:
            return await handler(request)
        finally:  # aiohttp sends the response, or the rest of it, before the loop turns
            asyncio.get_running_loop().call_soon(self._answered, request.protocol)

    def add(self, handler: object, connection: "_Connection") -> None:
        """Count a connection that waits for a request from now on."""
        self._idle[handler] = connection
        connection.expire(self._seconds)
        self._left.set()

    def remove(self, handler: object) -> None:
        """Count a connection no longer: it is closed."""
        self._idle.pop(handler, None)
        self._busy.pop(handler, None)
        self._left.set()

    def _answered(self, handler: object) -> None:
        connection = self._busy.get(handler)
        if connection is None:
            return
        connection.requests -= 1
        if not connection.requests:  # a client may send the next one before it has the answer
            del self._busy[handler]
            self.add(handler, connection)

    async def _attach(
        self, accepted: socket.socket, handler: RequestHandler, context: ssl.SSLContext | None
    ) -> None:
        try:
            await self._make_room()
            loop = asyncio.get_running_loop()
            within = {"ssl_handshake_timeout": HANDSHAKE_WITHIN, "ssl_shutdown_timeout": SHUTDOWN_TIMEOUT}
            await loop.connect_accepted_socket(
                lambda: _Connection(handler, self),
                accepted,
                ssl=context,
                **({} if context is None else within),
            )
        except BaseException:  # cancelled, for one; raised again
            accepted.close()
            raise

    async def _make_room(self) -> None:
        while len(self._idle) + len(self._busy) >= self._most:
            self._left.clear()
            if self._idle:
                next(iter(self._idle.values())).close()
            await self._left.wait()

    async def _not_accepted(self, error: OSError) -> None:
        """Report that no connection can be accepted, and wait if that will last."""
        if error.errno not in _EXHAUSTED:
            return  # the client left before it was accepted
        times = self._repeats.occurred("accept", "")
        if times:
            log.error(
                "no connection can be accepted; it is tried again",
                error=error.strerror,
                hint="raise the limit of open files (LimitNOFILE=, ulimit -n)",
                **counted(times),
            )
        await asyncio.sleep(ACCEPT_PAUSE)


class _Connection(asyncio.Protocol):
    """Passes everything on to aiohttp's handler, and closes the connection when its time is over."""

    def __init__(self, handler: RequestHandler, connections: Connections) -> None:
        self._handler = handler
        self._connections = connections
        self.requests = 0
        """The number of requests that are being answered."""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def expire(self, seconds: float) -> None:
        """Close the connection in so many seconds; replaces an earlier time."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.close)

    def close(self) -> None:
        """Close the connection, without waiting for the client."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self._handler, self)
        self._handler.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._transport = None
        self._connections.remove(self._handler)
        self._handler.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._handler.data_received(data)

    def eof_received(self) -> bool | None:
        self._handler.eof_received()
        return None

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()
