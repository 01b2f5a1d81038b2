"""Protocol buffers without a schema: messages by the numbers that the vendor's `.proto` gives their fields.

https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterator
from typing import Final

from syncret.providers.errors import Malformed

_MOST_FIELDS: Final = 100_000
"""Fields of one message: it is parsed on the event loop."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT: Final = 10
_LONG: Final = 1 << 64


def encoded(*fields: tuple[int, str | bytes | int]) -> bytes:
    """A message of texts, bytes (or messages) and integers, by number. Empty texts and zeros are left out."""
    return b"".join(_field(number, value) for number, value in fields if value not in {"", 0})


def _field(number: int, value: str | bytes | int) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value % _LONG)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:  # noqa: PLR2004  # seven bits a byte
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


class Message:
    """A message that was received. Of a field that came twice the last one counts, unless it is repeated.

    Raises Malformed if it is none; `doing` begins the message.
    """

    __slots__ = ("_doing", "_fields")

    def __init__(self, content: bytes, doing: str) -> None:
        self._doing = doing
        self._fields: dict[int, list[int | bytes]] = {}
        for count, (number, value) in enumerate(self._parsed(content)):
            if count == _MOST_FIELDS:
                raise Malformed(f"{doing}: the answer has more than {_MOST_FIELDS} fields")
            self._fields.setdefault(number, []).append(value)

    def __repr__(self) -> str:
        return f"<Message with fields {sorted(self._fields)}>"

    def raw(self, number: int) -> bytes | None:
        """Bytes, or a text as such; None if there is no such field."""
        found = self._fields.get(number)
        return None if found is None else self._bytes(found[-1])

    def text(self, number: int) -> str:
        """A text, empty if there is none."""
        return self._text(self.raw(number) or b"")

    def integer(self, number: int) -> int:
        """An integer, zero if there is none."""
        found = self._fields.get(number, [0])[-1]
        if isinstance(found, bytes):
            raise self._other_shape()
        return found - _LONG if found >= _LONG >> 1 else found

    def messages(self, number: int) -> "list[Message]":
        """The messages of a repeated field."""
        return [Message(self._bytes(each), self._doing) for each in self._fields.get(number, ())]

    def texts(self, number: int) -> dict[str, str]:
        """A map of texts, which is a repeated field of pairs."""
        return {each.text(1): each.text(2) for each in self.messages(number)}

    def _text(self, content: bytes) -> str:
        try:
            return content.decode()
        except UnicodeDecodeError:
            pass
        raise self._other_shape()

    def _bytes(self, value: int | bytes) -> bytes:
        if isinstance(value, int):
            raise self._other_shape()
        return value

    def _other_shape(self) -> Malformed:
        return Malformed(
            f"{self._doing}: the answer is a message of another shape than the API has",
            hint="does the address lead there?",
        )

    def _parsed(self, content: bytes) -> Iterator[tuple[int, int | bytes]]:
        place, end = 0, len(content)
        while place < end:
            tag, place = self._varint(content, place)
            number, kind = tag >> 3, tag & 7
            if kind == _VARINT:
                value, place = self._varint(content, place)
                yield number, value
                continue
            if kind == _BYTES:
                size, place = self._varint(content, place)
            else:
                size = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
            if size < 0 or size > end - place or not number:
                raise self._other_shape()
            yield number, content[place : place + size]
            place += size

    def _varint(self, content: bytes, place: int) -> tuple[int, int]:
        value = 0
        for index, byte in enumerate(content[place : place + _LONGEST_VARINT]):
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:  # noqa: PLR2004  # the last one
                return value % _LONG, place + index + 1
        raise self._other_shape()
