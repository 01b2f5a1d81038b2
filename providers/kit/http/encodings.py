"""Undoes the compression of bodies in small steps: a few kilobytes may become gigabytes.

No request asks for it (`Accept-Encoding: identity`), but there are servers that compress whatever they send.
"""

import zlib
from collections.abc import Iterator
from typing import Final

from syncret.providers.errors import Malformed, Unavailable

_GZIP: Final = 16 + zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS
_DEFLATE_METHOD: Final = 8
"""In the low half of the first byte of a zlib stream; some servers send `deflate` without its header."""


def inflater(encoding: str, *, step: int) -> "Inflater | None":
    """For a Content-Encoding; None if there is nothing to undo. Raises Malformed for an unknown one."""
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return Inflater(_GZIP, step)
        case "deflate":
            return Inflater(None, step)
        case _:
            raise Malformed(
                "the answer is compressed in a way that was not asked for",
                hint="have the server send what it is asked for: Accept-Encoding is identity",
            )


class Inflater:
    """Undoes one compression: streams of zlib, one after another, as gzip allows.

    Args:
        bits: how zlib shall read them; None: as their first byte says.
        step: bytes of a piece, at most.
    """

    def __init__(self, bits: int | None, step: int) -> None:
        self._bits = bits
        self._step = step
        self._stream: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage]  # it has no other name

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes of the body become. Raises Unavailable if they are damaged."""
        while data:
            stream = self._stream = self._stream or zlib.decompressobj(self._window(data))
            try:
                piece = stream.decompress(data, self._step)
            except zlib.error:
                raise _damaged() from None
            data = stream.unused_data if stream.eof else stream.unconsumed_tail
            if stream.eof:
                self._stream = None
            yield piece

    def end(self) -> bytes:
        """What is left at the end of the body. Raises Unavailable if something is missing."""
        if self._stream is None:
            return b""
        rest = self._stream.flush()
        if not self._stream.eof:
            raise _damaged()
        return rest

    def _window(self, data: bytes) -> int:
        if self._bits is None:
            self._bits = zlib.MAX_WBITS if data[0] % 16 == _DEFLATE_METHOD else _RAW
        return self._bits


def _damaged() -> Unavailable:
    return Unavailable("the answer is damaged: what it is compressed to cannot be read")
