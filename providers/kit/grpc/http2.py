"""One connection of HTTP/2, which carries one call at a time."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import H2Error
from h2.settings import SettingCodes

from syncret.providers.answer_memory import Share, TooLarge
from syncret.providers.kit.grpc.connecting import Connected

LARGEST: Final = 4 * 2**20
"""Bytes of an answer; more is what clients of gRPC refuse by default, too."""

_STEP: Final = 16 * 1024
_LONGEST_HEADERS: Final = 64 * 1024


class LostError(Exception):
    """The server closed the connection, reset the call or broke the rules. `unread`: before it answered."""

    def __init__(self, *, unread: bool) -> None:
        self.unread = unread
        super().__init__()


@dataclass(slots=True)
class Reply:
    """The answer of a server: headers, the body, and trailers."""

    headers: dict[str, str] = field(default_factory=dict[str, str])
    trailers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytearray = field(default_factory=bytearray, repr=False)
    ended: bool = False


class Connection:
    """An open connection."""

    def __init__(self, connected: Connected) -> None:
        self._reader, self._writer = connected.reader, connected.writer
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._h2.initiate_connection()
        self._h2.update_settings(
            {SettingCodes.ENABLE_PUSH: 0, SettingCodes.MAX_HEADER_LIST_SIZE: _LONGEST_HEADERS}
        )
        self.usable = True
        """Whether another call may be made on it."""
        self.used = False

    def close(self) -> None:
        """Close it at once."""
        self.usable = False
        self._writer.transport.abort()

    async def wait_closed(self) -> None:
        """Until it is, after `close`."""
        with suppress(OSError):
            await self._writer.wait_closed()

    @property
    def is_open(self) -> bool:
        """Whether it is, as far as it is known without reading."""
        return self.usable and not self._reader.at_eof() and not self._writer.is_closing()

    async def call(self, headers: list[tuple[str, str]], content: bytes, share: Share) -> Reply:
        """One call. The memory of the body is taken from the share, and given back if the call fails.

        Raises LostError, SyncError and OSError; then the connection is closed.
        """
        reply, held = Reply(), 0
        try:
            stream = self._h2.get_next_available_stream_id()
            self._h2.send_headers(stream, headers)
            await self._send(stream, content, reply)
            while not reply.ended:
                await self._receive(stream, reply)
                grown = len(reply.body) - held
                if grown:
                    await share.take(grown)
                held += grown
        except BaseException as error:  # raised again: the connection is in the middle of a call
            self.close()
            share.add(-held)
            if isinstance(error, H2Error):  # so is an answer that comes after GOAWAY, to h2
                raise LostError(unread=not reply.headers) from None
            raise
        self.used = True
        return reply

    async def _send(self, stream: int, content: bytes, reply: Reply) -> None:
        place = 0
        while place < len(content) and not reply.ended:
            room = min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size)
            if room <= 0:
                await self._receive(stream, reply)
                continue
            part = content[place : place + room]
            place += len(part)
            self._h2.send_data(stream, part, end_stream=place == len(content))
            await self._flush()
        if place < len(content):  # the server did not want the rest: nothing can follow
            self.usable = False

    async def _flush(self) -> None:
        self._writer.write(self._h2.data_to_send())
        await self._writer.drain()

    async def _receive(self, stream: int, reply: Reply) -> None:
        """Read once, and answer what the protocol wants answered."""
        received = await self._reader.read(_STEP)
        if not received:
            raise LostError(unread=not reply.headers)
        for event in self._h2.receive_data(received):
            self._take(event, stream, reply)
        await self._flush()

    def _take(self, event: Event, stream: int, reply: Reply) -> None:
        if isinstance(event, ConnectionTerminated):
            self.usable = False
        elif getattr(event, "stream_id", None) != stream:
            return
        elif isinstance(event, ResponseReceived):
            reply.headers.update(event.headers)
        elif isinstance(event, DataReceived):
            if len(reply.body) + len(event.data) > LARGEST:
                raise TooLarge(
                    f"the answer is larger than {LARGEST} bytes",
                    hint="no secret is that large: does the address lead to the right place?",
                )
            reply.body += event.data
            self._h2.acknowledge_received_data(event.flow_controlled_length, stream)
        elif isinstance(event, TrailersReceived):
            reply.trailers.update(event.headers)
        elif isinstance(event, StreamEnded):
            reply.ended = True
        elif isinstance(event, StreamReset):
            raise LostError(unread=not reply.headers)
