"""One connection of HTTP/2, which carries one call at a time."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from h2.exceptions import H2Error
from h2.settings import SettingCodes

from syncret.providers.answer_memory import Share, TooLarge
from syncret.providers.kit.grpc.connecting import Connected

LARGEST: Final = 4 * 2**20
"""Bytes of an answer; more is what clients of gRPC refuse by default, too."""

_STEP: Final = 16 * 1024
_LONGEST_HEADERS: Final = 64 * 1024

_HEAD: Final = 9
"""Bytes before the content of a frame: three of its length, its type, flags, and four of the stream."""
_LONGEST_FRAME: Final = _HEAD + 16 * 1024
_TYPE: Final = 3
_GOAWAY: Final = 7
_LEAST_GOAWAY: Final = 8
_STREAM: Final = 2**31 - 1
"""The bits of a stream's number."""
_REFUSED_STREAM: Final = 7


class LostError(Exception):
    """The server closed the connection, reset the call or broke the rules.

    `not_begun`: it says that it did not begin with the call. Otherwise it may have carried it out.
    """

    def __init__(self, *, not_begun: bool = False) -> None:
        self.not_begun = not_begun
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
        self._rest = bytearray()
        """The beginning of a frame whose end has not come yet."""
        self.usable = True
        """Whether another call may be made on it."""

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

    async def stayed_open(self) -> bool:
        """Whether it is still open, when what came between two calls has been read; if not, it is closed."""
        stayed = False
        try:
            for _ in range(2):  # the loop asks the sockets, and hands over what they have
                await asyncio.sleep(0)
            with suppress(LostError, OSError):
                with suppress(TimeoutError):
                    async with asyncio.timeout(0):
                        while self.is_open:
                            await self._receive(0, Reply())
                stayed = self.is_open
        finally:
            if not stayed:
                self.close()
        return stayed

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
            if isinstance(error, H2Error):
                raise LostError from None
            raise
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
            if not await self._flush():
                break
        if place < len(content):  # the server did not want the rest: nothing can follow
            self.usable = False

    async def _flush(self) -> bool:
        """False if the server takes nothing any more: it may have answered before, which is read next."""
        try:
            self._writer.write(self._h2.data_to_send())
            await self._writer.drain()
        except OSError:
            return False
        return True

    async def _receive(self, stream: int, reply: Reply) -> None:
        """Read once, and answer what the protocol wants answered."""
        received = await self._reader.read(_STEP)
        if not received:
            raise LostError
        try:
            for frame in self._frames(received):
                if frame[_TYPE] == _GOAWAY:
                    self._go_away(frame, stream, reply)
                    continue
                for event in self._h2.receive_data(frame):
                    self._take(event, stream, reply)
        except (H2Error, UnicodeDecodeError):  # the latter by a header
            if not reply.ended:
                raise LostError from None
            self.usable = False
        await self._flush()

    def _frames(self, received: bytes) -> Iterator[bytes]:
        """The frames that are complete by now."""
        self._rest += received
        while len(self._rest) >= _HEAD:
            end = _HEAD + int.from_bytes(self._rest[:_TYPE], "big")
            if end > _LONGEST_FRAME:
                raise H2Error
            if end > len(self._rest):
                return
            frame = bytes(self._rest[:end])
            del self._rest[:end]
            yield frame

    def _go_away(self, frame: bytes, stream: int, reply: Reply) -> None:
        """No further call; this one is finished, unless it comes after the last one that the server takes.

        h2 does not learn of it, as it would refuse all that follows, such as the answer.
        """
        self.usable = False
        if len(frame) < _HEAD + _LEAST_GOAWAY:
            raise H2Error
        last = int.from_bytes(frame[_HEAD : _HEAD + 4], "big") & _STREAM
        if last < stream and not reply.ended:
            raise LostError(not_begun=True)

    def _take(self, event: Event, stream: int, reply: Reply) -> None:
        if getattr(event, "stream_id", None) != stream:
            return
        if isinstance(event, ResponseReceived):
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
        elif isinstance(event, StreamReset) and not reply.ended:
            raise LostError(not_begun=event.error_code == _REFUSED_STREAM)
