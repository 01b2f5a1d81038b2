"""Calls of gRPC: what goes wrong with connections, answers and time."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web

from syncret.config.addresses import Address
from syncret.providers.answer_memory import TooLarge
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.grpc.channel import Channel
from syncret.providers.kit.http import Tls
from syncret.providers.kit.http.answers import NoAddress, NotReached
from syncret.providers.kit.http.client import Timeouts
from syncret.providers.network import Egress, Network
from tests.support.opened import NETWORK, NOW
from tests.support.served import all_to, served
from tests.support.servers.grpc import Answer, GrpcServer, grpc_running, schema
from tests.support.tls import Authority
from tests.support.tunnel import tunnel_to

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

AUTHORITY: Final = Authority()
KINDS: Final = schema("test", Text={"text": (1, "string")})
_H2: Final[Any] = import_module("h2.connection")
_CONFIG: Final[Any] = import_module("h2.config")
_EVENTS: Final[Any] = import_module("h2.events")


class Echo(GrpcServer):
    """Says again what was sent, as often as asked."""

    def methods(self) -> Mapping[str, tuple[Any, Answer]]:
        return {"test.Echo/Say": (KINDS["Text"], self._say)}

    def _say(self, request: Any) -> object:  # noqa: ANN401  # protobuf's own
        times, _, text = request.text.rpartition("*")
        return KINDS["Text"](text=text * int(times or 1))


@asynccontextmanager
async def calls_to(
    address: str, *, ca: bytes = AUTHORITY.pem, network: Network = NETWORK, total: float = 60.0
) -> AsyncGenerator[Channel]:
    limits = Timeouts(total=total)
    async with Channel(address, tls=Tls(ca=ca), network=network, now=lambda: NOW, timeouts=limits) as calls:
        yield calls


async def say(calls: Channel, text: str, method: str = "Say") -> bytes:
    message = KINDS["Text"](text=text).SerializeToString()
    answer = await calls.call(f"/test.Echo/{method}", message, {}, doing="saying it", grant="")
    return bytes(KINDS["Text"].FromString(answer.body).text.encode())


async def test_real_ones() -> None:
    text = "ä" * 10**6
    async with grpc_running(Echo(), AUTHORITY.pair()) as server:
        async with calls_to(f"127.0.0.1:{server.port}") as calls:
            assert await say(calls, text) == text.encode()
            with pytest.raises(TooLarge, match="larger than 4194304 bytes"):
                await say(calls, f"5*{'a' * 10**6}")
            found = await asyncio.gather(*(say(calls, str(number)) for number in range(20)))
            with pytest.raises(Malformed, match="saying it: gRPC status UNIMPLEMENTED"):
                await say(calls, "a", "Shout")
        async with calls_to(f"127.0.0.1:{server.port}", ca=Authority().pem) as calls:
            with pytest.raises(Malformed, match=r"saying it: .*its certificate is not trusted"):
                await say(calls, "a")

    assert found == [str(number).encode() for number in range(20)]


async def test_a_call_can_be_cancelled_anywhere() -> None:
    network = Network(egress=Egress())
    async with grpc_running(Echo(), AUTHORITY.pair()) as server:
        async with calls_to(f"127.0.0.1:{server.port}", network=network) as calls:
            for step in range(40):
                call = asyncio.create_task(say(calls, "a"), name="to be cancelled")
                await asyncio.sleep(step / 10_000)  # into the connecting, the handshake, the call
                call.cancel()
                await asyncio.wait([call])
                assert call.cancelled() or call.result() == b"a"
            assert await say(calls, "b" * 100_000) == b"b" * 100_000
        for _ in range(100):
            await asyncio.sleep(0)

    assert (network.connections.open, network.answers.used) == (0, 0)


class Scripted:
    """A server of HTTP/2 that answers each call as the test says; False: it closes the connection."""

    def __init__(self, answer: Callable[[Any, int, int], bool]) -> None:
        self.port = 0
        self.connections = 0
        self.calls = 0
        self.first = b""
        """What is sent before the next answer."""
        self.early = False
        """Whether it answers before it has the whole message."""
        self._answer = answer
        self._writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        h2 = _H2.H2Connection(_CONFIG.H2Configuration(client_side=False))
        h2.initiate_connection()
        with suppress(ConnectionError):
            while received := await reader.read(65536):
                for event in h2.receive_data(received):
                    begun = self.early and isinstance(event, _EVENTS.RequestReceived)
                    if begun or (isinstance(event, _EVENTS.StreamEnded) and not self.early):
                        self.calls += 1
                        if not self._answer(h2, event.stream_id, self.calls):
                            writer.transport.abort()
                            return
                writer.write(self.first + h2.data_to_send())
                self.first = b""
                await writer.drain()

    async def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def scripted(
    folder: Path, answer: Callable[[Any, int, int], bool], *, protocol: str = "h2"
) -> AsyncGenerator[Scripted]:
    server, context = Scripted(answer), AUTHORITY.server(folder)
    context.set_alpn_protocols([protocol])
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    async with listening:
        server.port = listening.sockets[0].getsockname()[1]
        yield server
        await server.close()


GOOD: Final = ((":status", "200"), ("content-type", "application/grpc"))
GOAWAY: Final = b"\0\0\x08\x07\0\0\0\0\0\x7f\xff\xff\xff\0\0\0\0"
BODY: Final = b"\x00\x00\x00\x00\x03\x0a\x01a"


def well(h2: Any, stream: int, body: bytes = BODY) -> None:  # noqa: ANN401  # h2's own
    h2.send_headers(stream, GOOD)
    h2.send_data(stream, body)
    h2.send_headers(stream, [("grpc-status", "0")], end_stream=True)


async def test_a_kept_connection_that_is_lost(tmp_path: Path) -> None:
    def answer(h2: Any, stream: int, call: int) -> bool:  # noqa: ANN401  # h2's own
        if call == 1:
            well(h2, stream)
        elif call > 2:
            well(h2, stream, b"\x00\x00\x00\x00\x03\x0a\x01b")
        return call != 2

    async with scripted(tmp_path, answer) as server, calls_to(f"127.0.0.1:{server.port}") as calls:
        found = [await say(calls, "x")]
        with pytest.raises(Unavailable, match="closed the connection"):
            await say(calls, "x")
        found.append(await say(calls, "x"))

    assert found == [b"a", b"b"]
    assert (server.calls, server.connections) == (3, 2), "what may have been carried out is not repeated"


async def test_a_server_that_goes_away(tmp_path: Path) -> None:
    """GOAWAY after an answer: the next call takes another connection."""

    def answer(h2: Any, stream: int, call: int) -> bool:  # noqa: ANN401  # h2's own
        well(h2, stream)
        if call == 1:
            h2.close_connection(last_stream_id=stream)
        return True

    async with scripted(tmp_path, answer) as server, calls_to(f"127.0.0.1:{server.port}") as calls:
        found = [await say(calls, "x"), await say(calls, "x")]

    assert (found, server.connections) == ([b"a", b"a"], 2)


Script = Callable[[Any, int, int], bool]


def _closed(_h2: Any, _stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
    return False


def _silent(_h2: Any, _stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
    return True


def _reset(h2: Any, stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
    h2.reset_stream(stream)
    return True


def _ended(h2: Any, stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
    h2.send_headers(stream, GOOD, end_stream=True)
    return True


async def test_a_server_that_goes_away_before_it_answers(tmp_path: Path) -> None:
    """The call is finished; the next one takes another connection."""

    def answer(h2: Any, stream: int, call: int) -> bool:  # noqa: ANN401  # h2's own
        well(h2, stream)
        server.first = GOAWAY if call == 1 else b""
        return True

    async with scripted(tmp_path, answer) as server, calls_to(f"127.0.0.1:{server.port}") as calls:
        found = [await say(calls, "x"), await say(calls, "x")]

    assert (found, server.calls, server.connections) == ([b"a", b"a"], 2, 2)


async def test_a_server_that_does_not_read_all(tmp_path: Path) -> None:
    """It answers with the first part of a large message; the next call takes another connection."""

    def answer(h2: Any, stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
        well(h2, stream)
        return True

    async with scripted(tmp_path, answer) as server, calls_to(f"127.0.0.1:{server.port}") as calls:
        server.early = True
        found = [await say(calls, "x" * 10**6)]
        server.early = False
        found.append(await say(calls, "x"))

    assert (found, server.connections) == ([b"a", b"a"], 2)


def _page(status: str) -> Script:
    def answer(h2: Any, stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
        headers = [(":status", status), ("content-type", "text/html"), ("retry-after", "7")]
        h2.send_headers(stream, headers)
        h2.send_data(stream, b"<html>canary", end_stream=True)
        return True

    return answer


def _body(body: bytes) -> Script:
    def answer(h2: Any, stream: int, _call: int) -> bool:  # noqa: ANN401  # h2's own
        well(h2, stream, body)
        return True

    return answer


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        pytest.param(_closed, Unavailable, "closed the connection", id="closed"),
        pytest.param(_reset, Unavailable, "closed the connection", id="reset"),
        pytest.param(_silent, Unavailable, "gave no answer in time", id="silence"),
        pytest.param(_page("404"), Malformed, "HTTP 404, but not from the API", id="a page that is missing"),
        pytest.param(_page("200"), Malformed, "the answer is none of gRPC", id="a page"),
        pytest.param(_page("502"), Unavailable, "HTTP 502", id="a proxy"),
        pytest.param(_ended, Malformed, "the answer is none of gRPC", id="no status"),
        pytest.param(_body(b"\x01\0\0\0\x01a"), Malformed, "is not one message", id="compressed"),
        pytest.param(_body(BODY + BODY), Malformed, "is not one message", id="two messages"),
        pytest.param(_body(b""), Malformed, "is not one message", id="nothing"),
    ],
)
async def test_other_answers(tmp_path: Path, answer: Script, kind: type[SyncError], message: str) -> None:
    total = 0.1 if "in time" in message else 60.0
    async with (
        scripted(tmp_path, answer) as server,
        calls_to(f"127.0.0.1:{server.port}", total=total) as calls,
    ):
        with pytest.raises(kind, match=f"^saying it: .*{re.escape(message)}") as raised:
            await say(calls, "secret-word")

    assert type(raised.value) is kind
    assert not {"canary", "secret-word"} & {*re.split(r"\W+", str(raised.value))}


async def test_a_server_of_another_protocol(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response()

    async with served(all_to(answer), AUTHORITY.server(tmp_path)) as url, calls_to(url[8:]) as calls:
        with pytest.raises(Malformed, match="does not speak HTTP/2"):
            await say(calls, "a")
    async with served(all_to(answer)) as url, calls_to(url[7:]) as calls:
        with pytest.raises(Malformed, match="does not speak TLS"):
            await say(calls, "a")


@pytest.mark.parametrize(
    ("address", "deny", "kind", "message"),
    [
        ("127.0.0.1:1", (), NotReached, "127.0.0.1:1 refuses connections"),
        ("no-such-host.invalid", (), NoAddress, "no-such-host.invalid has no address"),
        ("127.0.0.1:1", ("127.0.0.0/8",), Denied, "127.0.0.1 may not be reached"),
        ("localhost:1", ("loopback",), Denied, "localhost .* may not be reached"),
    ],
)
async def test_no_server(address: str, deny: tuple[str, ...], kind: type[SyncError], message: str) -> None:
    async with calls_to(address, network=Network(egress=Egress(deny=deny))) as calls:
        with pytest.raises(kind, match=f"saying it: {message}"):
            await say(calls, "a")


async def test_another_address_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that nobody listens at, such as one of IPv6, is not the end."""

    async def both(_self: Network, _host: str) -> list[Address]:
        return [ip_address("127.0.0.2"), ip_address("127.0.0.1")]

    async with grpc_running(Echo(), AUTHORITY.pair("echo.example")) as server:
        monkeypatch.setattr(Network, "addresses", both)
        async with calls_to(f"echo.example:{server.port}") as calls:
            assert await say(calls, "a") == b"a"


@pytest.mark.parametrize("address", ["", "a b:1", "https://a", "a/b", "a:port", "user@a"])
async def test_no_address(address: str) -> None:
    with pytest.raises(Malformed, match="is no address of a server"):
        async with calls_to(address):
            pass


async def test_a_header_with_a_line_break() -> None:
    async with calls_to("127.0.0.1:1") as calls:
        with pytest.raises(Malformed, match="a header holds a line break"):
            await calls.call("/a", b"", {"Authorization": "a\nb"}, doing="saying it", grant="")


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ("HTTP/1.1 407 Login\r\n\r\n", Denied, "the proxy wants a login"),
        ("HTTP/1.1 403 No\r\n\r\n", NotReached, "the proxy does not connect to echo.example"),
        ("", NotReached, "the proxy does not connect to echo.example"),
    ],
)
async def test_a_proxy_that_refuses(
    monkeypatch: pytest.MonkeyPatch, answer: str, kind: type[SyncError], message: str
) -> None:
    asked: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer.encode())
        writer.close()
        await writer.wait_closed()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with listening, calls_to("echo.example") as calls:
        port = listening.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTPS_PROXY", f"http://us%65r:secret@127.0.0.1:{port}")
        with pytest.raises(kind, match=f"saying it: {message}"):
            await say(calls, "a")

    assert asked[0].startswith(b"CONNECT echo.example:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=" in asked[0]


async def test_a_proxy_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    async with calls_to("echo.example") as calls:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        with pytest.raises(NotReached, match=r"the proxy on the way to echo\.example cannot be reached"):
            await say(calls, "a")
        monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
        with pytest.raises(Malformed, match="the proxy is none for gRPC"):
            await say(calls, "a")


async def test_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        grpc_running(Echo(), AUTHORITY.pair("echo.example")) as server,
        tunnel_to(server.port) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        async with calls_to("echo.example:8443") as calls:
            assert await say(calls, "a") == b"a"

    assert proxy.asked == ["CONNECT echo.example:8443 HTTP/1.1"]
