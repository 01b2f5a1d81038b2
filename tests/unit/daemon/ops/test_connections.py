"""Connections of the HTTP servers: how many, how long without a request, and a shortage of descriptors."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from syncret.daemon.ops import connections
from syncret.daemon.ops.connections import serve

REQUEST = b"GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"
MOST = 4


@dataclass
class Served:
    """A server with one quick and one slow address, of at most four connections."""

    port: int
    release: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Queue[None] = field(default_factory=asyncio.Queue[None])

    async def connect(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        return reader, writer

    async def get(self) -> bytes:
        """The first line of an answer, on a connection of its own."""
        reader, writer = await self.connect(REQUEST)
        line = await reader.readline()
        writer.close()
        return line

    async def slow(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection with a request that is being answered."""
        streams = await self.connect(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        await self.begun.get()
        return streams


@asynccontextmanager
async def listening() -> AsyncGenerator[tuple[Served, socket.socket]]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        yield Served(listener.getsockname()[1]), listener


@pytest.fixture
def idle() -> float | None:
    """For how long a connection may be without a request."""
    return None


@pytest.fixture
async def served(idle: float | None) -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        served, listener = await stack.enter_async_context(listening())

        async def quick(_: web.Request) -> web.Response:
            return web.Response(text="ok")

        async def slow(_: web.Request) -> web.Response:
            served.begun.put_nowait(None)
            await served.release.wait()
            return web.Response(text="ok")

        app = web.Application()
        app.router.add_get("/quick", quick)
        app.router.add_get("/slow", slow)
        await stack.enter_async_context(serve(app, [listener], most=MOST, idle=idle))
        yield served
        served.release.set()


async def closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


async def test_idle_clients_give_way_to_new_ones(served: Served) -> None:
    idle = [await served.connect() for _ in range(3 * MOST)]
    assert await served.get() == b"HTTP/1.1 200 OK\r\n"
    assert all([await closed(reader) for reader, _ in idle[: 2 * MOST]])
    for _, writer in idle:
        writer.close()


async def test_a_connection_may_send_several_requests(served: Served) -> None:
    reader, writer = await served.connect()
    for _ in range(3):
        writer.write(REQUEST)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(2) == b"ok"
    writer.close()


async def test_requests_that_are_sent_ahead_are_answered_in_turn(served: Served) -> None:
    reader, writer = await served.connect(5 * REQUEST)
    for _ in range(5):
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        await reader.readuntil(b"\r\n\r\nok")
    writer.close()


async def test_who_is_being_answered_is_not_closed_and_new_ones_wait(served: Served) -> None:
    busy = [await served.slow() for _ in range(MOST)]
    waiting = asyncio.create_task(served.get())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    served.release.set()
    for reader, writer in busy:
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        writer.close()
    assert await waiting == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET /quick HTTP/1.1\r\nHost:", id="half a request"),
        pytest.param(REQUEST, id="nothing after a request"),
    ],
)
@pytest.mark.parametrize("idle", [0.05], ids=["soon"])
async def test_a_connection_without_a_request_is_closed(served: Served, sent: bytes) -> None:
    reader, writer = await served.connect(sent)
    try:
        await reader.read()
    except ConnectionResetError:
        assert sent == b""
    writer.close()


async def test_a_client_that_does_not_take_the_response_is_closed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RESPONSE_WITHIN", 0.05)
    reader, writer = await served.slow()
    assert await closed(reader)
    writer.close()


Accept = Callable[[socket.socket], tuple[socket.socket, object]]


def failing(listener: socket.socket, *numbers: int) -> "FailingSocket":
    return FailingSocket(listener, list(numbers))


class FailingSocket(socket.socket):
    """A listening socket whose first calls of `accept` fail."""

    def __init__(self, listener: socket.socket, numbers: list[int]) -> None:
        super().__init__(fileno=os.dup(listener.fileno()))
        self.numbers = numbers

    def accept(self) -> tuple[socket.socket, object]:
        if self.numbers:
            number = self.numbers.pop(0)
            raise OSError(number, os.strerror(number))
        return super().accept()


async def test_a_shortage_of_descriptors_is_logged_once_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ACCEPT_PAUSE", 0.001)
    async with listening() as (served, listener):
        short = failing(listener, *[errno.EMFILE] * 50, errno.ENFILE, errno.ECONNABORTED)
        app = web.Application()

        async def quick(_: web.Request) -> web.Response:
            return web.Response(text="ok")

        app.router.add_get("/quick", quick)
        with short, capture_logs() as lines:
            async with serve(app, [short]):
                assert await served.get() == b"HTTP/1.1 200 OK\r\n"
    (line,) = lines
    assert line["event"] == "no connection can be accepted; it is tried again"
    assert line["error"] == "Too many open files"
    assert "LimitNOFILE" in line["hint"]


async def test_a_listener_that_is_gone_ends_the_server() -> None:
    """A daemon that is not reachable any more must not look alive."""
    async with listening() as (_, listener):
        broken = failing(listener, errno.EBADF)
        with broken, pytest.raises(ExceptionGroup) as caught:
            async with serve(web.Application(), [broken]):
                await asyncio.Event().wait()
    assert caught.group_contains(OSError, match="Bad file descriptor")
