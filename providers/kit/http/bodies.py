"""Reads the bodies of responses, bounded in size: those of `Http`, and those of the AWS SDK."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Final

from syncret.providers.answer_memory import (
    BUFFERED,
    LARGEST_PARSED,
    SMALL,
    AnswerMemory,
    Share,
    TooLarge,
    call_share,
    dropped,
)
from syncret.providers.kit.http.encodings import inflater

if TYPE_CHECKING:  # aiohttp takes 200 ms to import, and most commands call no server
    import aiohttp

LARGEST: Final = 8 * 2**20
"""The largest response in bytes, uncompressed; a larger one is an error, as half a secret would be wrong."""

BUFFER: Final = 16 * 1024
"""Bytes of one step of a reader, and half of what a connection receives ahead of it (`read_bufsize`)."""

_PART: Final = 96
"""Bytes that each part of a document takes as an object, about: an empty list takes 64, a short text 72."""

_PARTS: Final = (b",", b":", b"[", b"{", b"<")
"""One of these stands before each part, or after it, in JSON and XML."""

_STEP: Final = 2**20
"""Bytes that a response of unknown length takes ahead, once it is no small one."""

_TURN: Final = 4 * BUFFER
"""Bytes after which other tasks run, as a compressed body is inflated without an await."""

_WIDEST: Final = 4
"""Bytes of a character, in a text that is not ASCII."""

_NO_BODY: Final = {204, 304}


async def read_body(
    response: "aiohttp.ClientResponse",
    memory: AnswerMemory,
    largest: int = LARGEST,
    *,
    parsed: bool = True,
    inflated: bool = True,
) -> bytes:
    """The whole body. Raises TooLarge, before anything is read if its length is declared.

    `parsed`: whether it will be parsed as a whole, which takes more memory than the body. `inflated`: whether
    its compression is undone.
    """
    length = _declared(response)
    try:
        _check_size(length, largest)
        close = partial(_abandon, response)
        with BytesIO() as content, _reading(memory, close, length, parsed=parsed) as body:
            has_one = inflated and response.status not in _NO_BODY
            encoding = response.headers.get("Content-Encoding", "") if has_one else ""
            inflate = inflater(encoding, step=BUFFER)
            async for chunk in response.content.iter_chunked(BUFFER):
                for piece in (chunk,) if inflate is None else inflate.pieces(chunk):
                    _check_size(content.tell() + len(piece), largest)
                    await body.add(piece)
                    content.write(piece)
                    if content.tell() % _TURN < len(piece):
                        await asyncio.sleep(0)
            if inflate is not None:
                content.write(inflate.end())
            return content.getvalue()
    except BaseException:  # raised again; what is left of the body would be taken for the next response
        _abandon(response)
        raise


def _abandon(response: "aiohttp.ClientResponse") -> None:
    """Close the connection, and drop what it has received: the frames of an error may keep the response."""
    content = response.content
    if content.exception() is None:
        with suppress(RuntimeError):  # its reader waits for more, so there is nothing
            while content.read_nowait():  # once more for what was not parsed yet
                pass
    response.close()


def _declared(response: "aiohttp.ClientResponse") -> int:
    """Content-Length, 0 if it is not known; compressed, it is smaller than what is read."""
    if response.method == "HEAD" or response.status in _NO_BODY:
        return 0
    return response.content_length or 0


def _check_size(size: int, largest: int) -> None:
    if size > largest:
        raise TooLarge(
            f"the answer is larger than {largest} bytes",
            hint="no secret is that large: does the URL lead to the right place?",
        )


@contextmanager
def _reading(
    memory: AnswerMemory, close: Callable[[], None], length: int, *, parsed: bool
) -> Generator["_Body", None, None]:
    """A response is read within this block, for the call that is being made.

    Raises Unavailable if it is dropped; `close` ends the reading then. `length` is 0 if it is not known.
    """
    share = call_share.get()
    if share is not None and share.ended:
        share = None
    body = _Body(memory, share or Share(memory), close, length, parsed=parsed)
    memory.bodies[body] = None
    try:
        yield body
        body.end(read=True)
    except Exception:  # whatever the closed connection ends it with; raised again if nothing closed it
        body.end(read=False)
        if not body.dropped:
            raise
    finally:
        del memory.bodies[body]
        if share is None:
            body.share.release()
    if body.dropped:
        raise dropped()


class _Body:
    """A response that is being read.

    Memory is taken before it is needed: for all of it if its length is known, otherwise in doubling steps, so
    that few of those that wait hold much.
    """

    def __init__(
        self,
        memory: AnswerMemory,
        share: Share,
        close: Callable[[], None],
        length: int,
        *,
        parsed: bool,
    ) -> None:
        self._memory = memory
        self.share = share
        self._close = close
        self.dropped = False
        self._parsed = parsed
        self._expected = 2 * length if parsed else length
        self._weight = _Weight(parsed=parsed)
        self._taken = 0
        self._buffered = 0

    async def add(self, chunk: bytes) -> None:
        """Count a chunk, as soon as there is room. Raises TooLarge if too much would have to be parsed."""
        self._weight.add(chunk)
        missing = self._weight.total - self._taken
        if missing > 0:
            self._weight.check(beside=self.share.size - self._taken)
            if self.share.size + missing > SMALL:
                if not self._buffered:
                    self._buffered = BUFFERED
                    self.share.add(BUFFERED)
                ahead = max(self._expected - self._taken, self._taken, _STEP if not self._expected else 0)
                missing = max(missing, min(ahead, LARGEST_PARSED - self.share.size))
            await self.share.take(missing)
            self._taken += missing

    def drop(self) -> None:
        """End the reading: another store needs the memory."""
        self.dropped = True
        self._memory.fail(self.share)
        self._close()

    def end(self, *, read: bool) -> None:
        """Give back what was not needed: all, if it was not read to its end."""
        kept = self._weight.total if read else 0
        self.share.add(kept - self._taken - self._buffered)
        self._taken, self._buffered = kept, 0


class _Weight:
    """Bytes that a document takes: as such, and with `parsed` as text and as objects beside it."""

    def __init__(self, *, parsed: bool) -> None:
        self.total = 0
        self._parsed = parsed
        self._bytes = 0
        self._parts = 0
        self._width = 1

    def add(self, chunk: bytes) -> None:
        """One more piece of it."""
        self._bytes += len(chunk)
        self.total = self._bytes
        if self._parsed:
            self._parts += sum(map(chunk.count, _PARTS))
            if not chunk.isascii():
                self._width = _WIDEST
            self.total += self._bytes * self._width + self._parts * _PART

    def check(self, beside: int = 0) -> None:
        """Raise TooLarge if it is more than one response may take, with other ones of the same call."""
        if self.total + beside > LARGEST_PARSED:
            raise TooLarge(
                f"the answer takes more than {LARGEST_PARSED} bytes, parsed ({self._parts} parts)",
                hint="no secret is that large: does the URL lead to the right place?",
            )


def check_parsed(document: bytes) -> None:
    """Raise TooLarge if a document takes too much memory to be parsed."""
    weight = _Weight(parsed=True)
    weight.add(document)
    weight.check()
