"""Connections that break: what is sent again, and what of a refusal is known all the same."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import pytest

from syncret.providers.answer_memory import Share, call_share
from syncret.providers.errors import Denied, SyncError, Throttled, Unavailable
from syncret.providers.kit.http import Http, Timeouts, Unauthenticated
from tests.support.opened import NETWORK

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Answer: TypeAlias = Callable[[str, int], Awaitable[bytes | None]]
"""What is answered to a path, asked for the n-th time, from 1; None closes the connection instead."""


class Server:
    """Answers as its test says, and remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[str] = []
        self.connections: list[asyncio.Task[None]] = []
        self.url = ""
        self._answer = answer
        self._together: asyncio.Barrier | None = None

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.create_task(self._serve(reader, writer), name="serving"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer: bytes | None = b""
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # the client has closed it
            while answer is not None:
                path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
                answer = await self._answered(path)
                writer.write(answer or b"")
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answered(self, path: str) -> bytes | None:
        if self._together is not None:
            await self._together.wait()
            return OK
        self.asked.append(path)
        return await self._answer(path, self.asked.count(path))

    async def keep(self, http: Http, connections: int) -> None:
        """Let a client keep so many connections: none is answered before all have asked."""
        self._together = asyncio.Barrier(connections)
        await asyncio.gather(*(http.request("GET", "/", doing="reading") for _ in range(connections)))
        self._together = None


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[Server, None]:
    server = Server(answer)
    async with await asyncio.start_server(server.accept, "127.0.0.1", 0) as listening:
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield server
        await asyncio.gather(*server.connections)


async def none(_path: str, _time: int) -> None:
    """No answer."""


async def second(_path: str, time: int) -> bytes | None:
    """An answer once it is asked again."""
    return OK if time > 1 else None


@pytest.mark.parametrize("kept", [0, 1], ids=["a new one", "one that was kept"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "POST", "DELETE", "once"])
async def test_a_connection_that_breaks(method: str, kept: int) -> None:
    """What the server may have carried out is not sent again, but for reads on a connection that was kept."""
    share = Share(NETWORK.answers)
    share.once = method == "once"
    method = "GET" if share.once else method
    call_share.set(share)
    async with serving(none) as server, Http(server.url, network=NETWORK) as http:
        if kept:
            await server.keep(http, kept)
        with pytest.raises(Unavailable, match=r"(closed|broke) the connection"):
            await http.request(method, "/", doing="reading")

    is_repeated = method in {"GET", "HEAD"} and kept and not share.once
    assert server.asked == ["/", "/"] if is_repeated else ["/"]


async def test_a_read_that_breaks_servers_is_sent_twice() -> None:
    """However many connections are kept: each may be closed, and another replica must not break, too."""
    async with serving(none) as server, Http(server.url, network=NETWORK) as http:
        await server.keep(http, 5)
        with pytest.raises(Unavailable, match="closed the connection"):
            await http.request("GET", "/", doing="reading")
    assert server.asked == ["/", "/"]


async def test_a_restart_closes_all_kept_connections() -> None:
    """A read is made on a new one; what other connections carry goes on."""
    slow = asyncio.Event()

    async def answer(path: str, time: int) -> bytes | None:
        if path == "/slow":
            await slow.wait()
            return OK
        return await second(path, time)

    async with serving(answer) as server, Http(server.url, network=NETWORK) as http:
        await server.keep(http, 5)
        waiting = asyncio.create_task(http.request("GET", "/slow", doing="waiting"))
        for path in ("/a", "/b", "/c"):
            assert (await http.request("GET", path, doing="reading")).body == b"ok"
        slow.set()
        assert (await waiting).body == b"ok"
    assert len(server.connections) == 5 + 3


async def test_a_client_with_one_connection_keeps_the_new_one() -> None:
    """A login may hold for it."""
    async with serving(second) as server, Http(server.url, connections=1, network=NETWORK) as http:
        await server.keep(http, 1)
        for _ in range(3):
            await http.request("GET", "/", doing="reading")
    assert len(server.connections) == 2


async def test_a_stream_begins_on_a_kept_connection_that_closes() -> None:
    async with serving(second) as server, Http(server.url, network=None) as http:
        await server.keep(http, 1)
        async with http.stream("/", doing="watching", params={}, headers={}, silence=10) as stream:
            assert (stream.status, await stream.start(10)) == (200, b"ok")
    assert server.asked == ["/", "/"]


async def test_nothing_is_sent_again_once_the_client_is_left() -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def wait(_path: str, _time: int) -> None:
        asked.set()
        await left.wait()

    async with serving(wait) as server:
        async with Http(server.url, network=NETWORK) as http:
            await server.keep(http, 1)
            reading = asyncio.create_task(http.request("GET", "/", doing="reading"))
            await asked.wait()
        with pytest.raises(Unavailable, match=r"reading: .* (closed|broke) the connection"):
            await reading
        left.set()
    assert server.asked == ["/"]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(None, id="repeats"),
        pytest.param(b"HTTP/1.1 307 There\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", id="redirects"),
    ],
)
async def test_one_limit_holds_for_all(first: bytes | None) -> None:
    """Each answer comes in time, but both together do not."""

    async def answer(_path: str, time: int) -> bytes | None:
        await asyncio.sleep(0.15)
        return first if time == 1 else OK

    timeouts = Timeouts(total=0.2)
    async with serving(answer) as server, Http(server.url, timeouts=timeouts, network=NETWORK) as http:
        await server.keep(http, 1)
        with pytest.raises(Unavailable, match="no answer in time"):
            await http.request("GET", "/", doing="reading")


@pytest.mark.parametrize("hangs", [False, True], ids=["breaks", "hangs"])
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("401 Unauthorized", Unauthenticated),
        ("403 Forbidden", Denied),
        ("429 Slow\r\nRetry-After: 60", Throttled),
    ],
)
async def test_a_refusal_counts_though_its_body_does_not_come(
    status: str, expected: type[SyncError], monkeypatch: pytest.MonkeyPatch, *, hangs: bool
) -> None:
    """Its connection is not used again."""
    monkeypatch.setattr("syncret.providers.kit.http.client._LONGEST_UNREAD", 0.05)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 500\r\n\r\nhalf".encode())
        if hangs:
            await reader.read()  # until the client closes
        writer.close()
        served.set()

    served = asyncio.Event()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with Http(url, network=NETWORK) as http:
            with pytest.raises(expected, match=f"reading: HTTP {status[:3]}") as caught:
                await http.request("GET", "/", doing="reading")
            await served.wait()
    assert not isinstance(caught.value, Throttled) or caught.value.retry_after == 60
