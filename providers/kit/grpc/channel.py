"""The connections to one server: each carries one call at a time, and is kept for some seconds."""

import asyncio
import struct
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

from syncret.providers.answer_memory import Share, call_share
from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.kit.grpc.connecting import connect, server_at, trust
from syncret.providers.kit.grpc.http2 import Connection, LostError, Reply
from syncret.providers.kit.grpc.statuses import Status, error_of, status_of
from syncret.providers.kit.http import Answer, Tls
from syncret.providers.kit.http.answers import error_of_status
from syncret.providers.kit.http.client import Timeouts, user_agent
from syncret.providers.kit.http.tls import SYSTEM
from syncret.providers.network import Network

_IDLE: Final = 15.0
"""Seconds for which a connection is kept without a call."""

_TIMEOUTS: Final = Timeouts()

_PREFIX: Final = struct.Struct(">BI")
"""The prefix of a message: whether it is compressed, and its length."""


class Channel:
    """Makes unary calls. Use it as a context manager: leaving the block closes its connections.

    Args:
        address: host and port.
        tls: the CAs to trust.
        timeouts: of a call; also sent to the server.

    Raises Malformed for an address or authorities that are none.
    """

    def __init__(
        self,
        address: str,
        *,
        tls: Tls = SYSTEM,
        network: Network,
        now: Callable[[], float],
        timeouts: Timeouts = _TIMEOUTS,
    ) -> None:
        self.server = server_at(address)
        self._tls = tls
        trust(tls)  # authorities that are none are reported at once
        self._network = network
        self._now = now
        self._timeouts = timeouts
        self._open: set[Connection] = set()
        self._idle: dict[Connection, asyncio.TimerHandle] = {}
        self._closed = False

    async def call(
        self, path: str, message: bytes, headers: Mapping[str, str], *, doing: str, grant: str
    ) -> Answer:
        """The answer, whose body is a message. Raises SyncError; for a status that is not OK that of it."""
        sent = self._headers(path, headers)
        content = _PREFIX.pack(0, len(message)) + message
        with self._share() as share:
            reply = await self._reply(sent, content, share, doing)
        if reply.headers.get(":status") != str(HTTPStatus.OK.value):
            raise self._no_grpc(reply, doing)
        trailers = reply.trailers or reply.headers
        status = status_of(trailers)
        if status is None or not reply.headers.get("content-type", "").startswith("application/grpc"):
            raise Malformed(f"{doing}: the answer is none of gRPC", hint="does the address lead to the API?")
        if status is not Status.OK:
            raise error_of(status, trailers, doing, grant)
        return Answer(doing, HTTPStatus.OK.value, trailers, _message(bytes(reply.body), doing))

    @contextmanager
    def _share(self) -> Generator[Share, None, None]:
        """The memory share of the current call; a login outside of a call gets a share of its own."""
        share = call_share.get()
        if share is not None:
            share.server = str(self.server)
            if not share.ended:
                yield share
                return
        share = Share(self._network.answers)
        try:
            yield share
        finally:
            share.release()

    def _headers(self, path: str, headers: Mapping[str, str]) -> list[tuple[str, str]]:
        named = {name.lower(): value for name, value in headers.items()}
        if any("\r" in value or "\n" in value or "\0" in value for value in named.values()):
            raise Malformed("a header holds a line break", hint="trim the value it is made of")
        limit = {} if self._timeouts.total is None else {"grpc-timeout": f"{self._timeouts.total:.0f}S"}
        return [
            (":method", "POST"),
            (":scheme", "https"),
            (":path", path),
            (":authority", str(self.server)),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("user-agent", user_agent()),
            *limit.items(),
            *named.items(),
        ]

    async def _reply(self, headers: list[tuple[str, str]], content: bytes, share: Share, doing: str) -> Reply:
        """Made once more, on a new connection, if the server says that it did not begin with the call.

        In any other case it may have been carried out: whether it can be repeated is for the engine to know.
        """
        failed: SyncError
        try:
            async with asyncio.timeout(self._timeouts.total):
                try:
                    kept = await self._take()
                    return await self._made_on(kept or await self._connected(), headers, content, share)
                except LostError as error:
                    if not error.not_begun:
                        raise
                return await self._made_on(await self._connected(), headers, content, share)
        except SyncError as error:
            failed = error.within(doing)
        except LostError:
            problem = f"{self.server} closed the connection"
            failed = Unavailable(f"{doing}: {problem}", problem=problem)
        except (TimeoutError, OSError) as error:
            from syncret.providers.kit.http.failures import failure  # imports aiohttp

            failed = failure(error, doing, str(self.server))
        raise failed  # outside of the handler: the error must not become the context

    async def _made_on(
        self, connection: Connection, headers: list[tuple[str, str]], content: bytes, share: Share
    ) -> Reply:
        reply = await connection.call(headers, content, share)
        self._give_back(connection)
        return reply

    async def _connected(self) -> Connection:
        """A new connection, which trusts what is trusted by now."""
        async with asyncio.timeout(self._timeouts.connect):
            connection = Connection(await connect(self.server, trust(self._tls), self._network))
        self._open = {each for each in self._open if each.is_open} | {connection}
        return connection

    async def _take(self) -> Connection | None:
        """A connection that is kept, the last one first, unless the server has closed it meanwhile."""
        while self._idle:
            connection, timer = self._idle.popitem()
            timer.cancel()
            if await connection.stayed_open():
                return connection
        return None

    def _give_back(self, connection: Connection) -> None:
        if self._closed or not connection.is_open or self._network.connections.crowded:
            connection.close()
            return
        loop = asyncio.get_running_loop()
        self._idle[connection] = loop.call_later(_IDLE, self._drop, connection)

    def _drop(self, connection: Connection) -> None:
        self._idle.pop(connection, None)
        connection.close()

    def _no_grpc(self, reply: Reply, doing: str) -> SyncError:
        status = reply.headers.get(":status", "")
        code = int(status) if status.isascii() and status.isdecimal() else 0
        if code == HTTPStatus.NOT_FOUND:
            return Malformed(f"{doing}: HTTP 404, but not from the API", hint="check the address")
        return error_of_status(doing, code, reply.headers, self._now)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        for timer in self._idle.values():
            timer.cancel()
        self._idle.clear()
        for connection in self._open:
            connection.close()
        for connection in self._open:
            await connection.wait_closed()

    def __repr__(self) -> str:
        return f"<Channel {self.server}>"


def _message(body: bytes, doing: str) -> bytes:
    """The one message of a body. Raises Malformed."""
    if len(body) >= _PREFIX.size:
        compressed, length = _PREFIX.unpack_from(body)
        if not compressed and length == len(body) - _PREFIX.size:
            return body[_PREFIX.size :]
    raise Malformed(f"{doing}: the answer is not one message", hint="does the address lead to the API?")
