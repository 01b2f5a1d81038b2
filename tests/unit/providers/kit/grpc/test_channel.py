"""Which calls are made again, and which connections they are made on: servers that go away, names, trust."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from syncret.config.addresses import Address
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.grpc import connecting
from syncret.providers.kit.grpc.channel import Channel
from syncret.providers.kit.http import Tls
from syncret.providers.kit.http.answers import NoAddress
from syncret.providers.kit.http.client import Timeouts
from syncret.providers.network import Egress, Network
from tests.support.opened import NETWORK, NOW
from tests.support.tls import Authority, trust

AUTHORITY: Final = Authority()
HIGHEST: Final = 2**31 - 1
ENDS: Final = b"the connection ends"
NO_ERROR, REFUSED_STREAM, CANCEL = 0, 7, 8

H2: TypeAlias = Any
"""A connection of h2, or an event; our types have the parts that clients use."""
_CONNECTION: Final[Any] = import_module("h2.connection").H2Connection
_CONFIG: Final[Any] = import_module("h2.config").H2Configuration
_EVENTS: Final[Any] = import_module("h2.events")

Reaction: TypeAlias = Callable[[H2, int], bytes]
"""What is sent after a call, beside what it tells h2 to send."""


class Server:
    """Reacts to its first calls as the test says, and answers the others."""

    def __init__(self, *reactions: Reaction) -> None:
        self.port = 0
        self.connections = 0
        self.calls = 0
        self.authorities: list[str] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.early = False
        """Whether it reacts before it has the whole message."""
        self._reactions = [*reactions]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        h2 = _CONNECTION(_CONFIG(client_side=False, header_encoding="utf-8"))
        h2.initiate_connection()
        with suppress(ConnectionError):
            while received := await reader.read(65536):
                more = b"".join(self._reaction(h2, event) for event in h2.receive_data(received))
                writer.write(more.removesuffix(ENDS) + h2.data_to_send())
                if more.endswith(ENDS):
                    writer.close()
                    return
                await writer.drain()

    def _reaction(self, h2: H2, event: H2) -> bytes:
        if isinstance(event, _EVENTS.RequestReceived):
            self.authorities += [str(value) for name, value in event.headers if name == ":authority"]
        if isinstance(event, _EVENTS.DataReceived):
            h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        if not isinstance(event, _EVENTS.RequestReceived if self.early else _EVENTS.StreamEnded):
            return b""
        self.calls += 1
        return (self._reactions.pop(0) if self._reactions else answers)(h2, event.stream_id)


@asynccontextmanager
async def serving(folder: Path, *reactions: Reaction, name: str = "127.0.0.1") -> AsyncGenerator[Server]:
    server, context = Server(*reactions), AUTHORITY.server(folder, name)
    context.set_alpn_protocols(["h2"])
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    async with listening:
        server.port = listening.sockets[0].getsockname()[1]
        yield server
        for writer in server.writers:
            writer.transport.abort()


def channel_to(address: str, *, network: Network = NETWORK, connect: float = 10.0) -> Channel:
    limits = Timeouts(connect=connect, total=30.0)
    return Channel(address, tls=Tls(ca=AUTHORITY.pem), network=network, now=lambda: NOW, timeouts=limits)


async def add(channel: Channel, message: bytes = b"secret-word") -> bytes:
    return (await channel.call("/test.Versions/Add", message, {}, doing="adding", grant="")).body


def answers(h2: H2, stream: int, body: bytes = b"done") -> bytes:
    h2.send_headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
    content = struct.pack(">BI", 0, len(body)) + body
    for start in range(0, len(content), h2.max_outbound_frame_size):
        h2.send_data(stream, content[start : start + h2.max_outbound_frame_size])
    h2.send_headers(stream, [("grpc-status", "0")], end_stream=True)
    return b""


def sent(h2: H2) -> bytes:
    """What h2 was told to send so far, so that something can follow it."""
    return bytes(h2.data_to_send())


def frame(kind: int, stream: int, content: bytes) -> bytes:
    return struct.pack(">I", len(content))[1:] + bytes([kind, 0]) + struct.pack(">I", stream) + content


def goaway(last: int) -> bytes:
    return frame(7, 0, struct.pack(">II", last, 0))


def closes(_h2: H2, _stream: int) -> bytes:
    return ENDS


def resets(h2: H2, stream: int) -> bytes:
    h2.reset_stream(stream, CANCEL)
    return b""


def refuses(h2: H2, stream: int) -> bytes:
    h2.reset_stream(stream, REFUSED_STREAM)
    return b""


def drains(h2: H2, stream: int) -> bytes:
    """As servers that are stopped: no call after this one, which is answered; then they close."""
    answers(h2, stream)
    return goaway(HIGHEST) + goaway(stream) + sent(h2) + ENDS


def drains_without_an_answer(_h2: H2, _stream: int) -> bytes:
    return goaway(HIGHEST) + ENDS


def drains_before_it(_h2: H2, stream: int) -> bytes:
    return goaway(HIGHEST) + goaway(stream - 1)


def drains_badly(_h2: H2, _stream: int) -> bytes:
    return frame(7, 0, b"")


def answers_and_breaks_the_rules(h2: H2, stream: int) -> bytes:
    answers(h2, stream)
    return sent(h2) + frame(0, 0, b"data of no call") + b"\xff" * 9


def answers_in_another_encoding(h2: H2, stream: int) -> bytes:
    h2.send_headers(stream, [(b":status", b"200"), (b"x-name", b"caf\xe9")], end_stream=True)
    return b""


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "new"])
@pytest.mark.parametrize(
    ("reaction", "done", "calls"),
    [
        pytest.param(drains, True, 1, id="goes away and answers"),
        pytest.param(drains_without_an_answer, False, 1, id="goes away without an answer"),
        pytest.param(drains_before_it, True, 2, id="went away before it came"),
        pytest.param(drains_badly, False, 1, id="goes away against the rules"),
        pytest.param(refuses, True, 2, id="refuses to begin"),
        pytest.param(resets, False, 1, id="resets"),
        pytest.param(closes, False, 1, id="closes"),
        pytest.param(answers_and_breaks_the_rules, True, 1, id="breaks the rules after its answer"),
        pytest.param(answers_in_another_encoding, False, 1, id="a header that is not UTF-8"),
    ],
)
async def test_only_what_the_server_did_not_begin_is_made_again(
    tmp_path: Path, reaction: Reaction, *, kept: bool, done: bool, calls: int
) -> None:
    earlier = [answers] if kept else []
    async with (
        serving(tmp_path, *earlier, reaction) as server,
        channel_to(f"127.0.0.1:{server.port}") as channel,
    ):
        for _ in earlier:
            await add(channel)
        if done:
            assert await add(channel) == b"done"
        else:
            with pytest.raises(Unavailable, match=r"^adding: 127\.0\.0\.1:\d+ closed the connection$"):
                await add(channel)
        made = server.calls - len(earlier)
        assert await add(channel) == b"done", "the next call takes another connection"

    assert (made, server.connections) == (calls, 2)


async def test_an_answer_is_read_to_its_end_after_the_server_has_closed(tmp_path: Path) -> None:
    def answers_at_length(h2: H2, stream: int) -> bytes:
        answers(h2, stream, body=b"x" * 60_000)
        return sent(h2) + ENDS

    async with (
        serving(tmp_path, answers_at_length) as server,
        channel_to(f"127.0.0.1:{server.port}") as channel,
    ):
        assert await add(channel) == b"x" * 60_000


async def test_a_server_may_answer_before_it_has_the_whole_message(tmp_path: Path) -> None:
    def answers_and_stops(h2: H2, stream: int) -> bytes:
        answers(h2, stream)
        h2.reset_stream(stream, NO_ERROR)
        return b""

    async with (
        serving(tmp_path, answers_and_stops) as server,
        channel_to(f"127.0.0.1:{server.port}") as channel,
    ):
        server.early = True
        assert await add(channel, b"x" * 200_000) == b"done"


async def test_a_call_that_is_always_refused_is_made_again_once(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, *[refuses] * 9) as server,
        channel_to(f"127.0.0.1:{server.port}") as channel,
    ):
        with pytest.raises(Unavailable, match="closed the connection"):
            await add(channel)

    assert server.calls == 2


@pytest.mark.parametrize("last_words", [b"", goaway(HIGHEST)], ids=["silently", "with GOAWAY"])
@pytest.mark.parametrize("ends", [True, False], ids=["closes", "waits for us to close"])
async def test_a_connection_that_the_server_gave_up_is_not_used(
    tmp_path: Path, last_words: bytes, *, ends: bool
) -> None:
    async with serving(tmp_path) as server, channel_to(f"127.0.0.1:{server.port}") as channel:
        await add(channel)
        server.writers[0].write(last_words)
        if ends:
            server.writers[0].close()
        await asyncio.sleep(0)
        found = await add(channel)

    kept = not ends and not last_words
    assert (found, server.calls, server.connections) == (b"done", 2, 1 if kept else 2)


@contextmanager
def swallowing(port: int) -> Generator[str]:
    """An address at which connections are neither accepted nor refused."""
    with socket.socket() as listening, socket.socket() as one, socket.socket() as two:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.2", port))
        listening.listen(0)
        for each in (one, two):  # more than wait to be accepted
            each.settimeout(0)
            each.connect_ex(("127.0.0.2", port))
        yield "127.0.0.2"


def lead(patch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Any name leads to these."""

    async def resolved(_self: Network, _host: str) -> list[Address]:
        return [ip_address(each) for each in addresses]

    patch.setattr(Network, "addresses", resolved)


async def test_an_address_that_swallows_packets_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network(egress=Egress())
    monkeypatch.setattr(connecting, "_HEAD_START", 0.05)
    async with serving(tmp_path, name="api.example") as server:
        with swallowing(server.port) as address:
            lead(monkeypatch, address, "127.0.0.3", "127.0.0.1")
            async with channel_to(f"api.example:{server.port}", network=network, connect=5.0) as channel:
                found = await add(channel)
                opened = network.connections.open

    assert (found, opened) == (b"done", 1), "the attempts at the other addresses are over"


async def test_an_address_of_ipv6_is_named_in_brackets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead(monkeypatch, "127.0.0.1")
    async with (
        serving(tmp_path, name="::1") as server,
        channel_to(f"[::1]:{server.port}") as channel,
    ):
        await add(channel)

    assert server.authorities == [f"[::1]:{server.port}"]


@pytest.mark.parametrize("address", ["localhost:99999", "localhost:65536", "[::1]:0"])
def test_a_port_that_is_none(address: str) -> None:
    with pytest.raises(Malformed, match="is no address of a server") as caught:
        channel_to(address)

    assert "65535" in (caught.value.hint or "")


@pytest.mark.parametrize("host", ["a..example", f"{'a' * 64}.example"])
async def test_a_name_that_dns_cannot_have(host: str) -> None:
    async with channel_to(host) as channel:
        with pytest.raises(NoAddress, match=f"^adding: {host} has no address"):
            await add(channel)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://[::1"])
async def test_a_proxy_that_is_none(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", url)
    async with channel_to("api.example") as channel:
        with pytest.raises(Malformed, match="adding: the proxy is none for gRPC"):
            await add(channel)


async def test_each_connection_asks_whom_to_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch)
    async with (
        serving(tmp_path) as server,
        Channel(f"127.0.0.1:{server.port}", network=NETWORK, now=lambda: NOW) as channel,
    ):
        with pytest.raises(Malformed, match="is not trusted"):
            await add(channel)
        trust(monkeypatch, AUTHORITY)
        assert await add(channel) == b"done"
