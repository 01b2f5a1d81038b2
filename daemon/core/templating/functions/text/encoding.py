"""b64enc, b64dec, b32enc, b32dec, hexdec. For malformed input the result is Go's error message."""

import base64
import re
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.golang.values import bytes_of, text_of

_BASE64: Final = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_BASE64_LETTERS: Final = re.compile(rb"[A-Za-z0-9+/\r\n]*")
_BASE32: Final = re.compile(
    rb"(?:[A-Z2-7]{8})*(?:[A-Z2-7]{2}={6}|[A-Z2-7]{4}={4}|[A-Z2-7]{5}={3}|[A-Z2-7]{7}=)?"
)
_BASE32_LETTERS: Final = re.compile(rb"[A-Z2-7]*")
_HEX: Final = re.compile(rb"[0-9a-fA-F]*")
_LINE_BREAKS: Final = b"\r\n"
_BREAKS_OR_NONE: Final = re.compile(rb"[\r\n]*")
_PAD: Final = ord("=")
_BASE64_GROUP: Final = 4
_BASE32_GROUP: Final = 8


class BadEncoding(ValueError):
    """The text is not in this encoding; the message is Go's, with a position or one character."""


def decode_base64(text: str) -> bytes:
    """Standard base64 with padding; line breaks are skipped. Raises BadEncoding."""
    data = bytes_of(text)
    packed = data.translate(None, _LINE_BREAKS)
    if _BASE64.fullmatch(packed):
        return base64.b64decode(packed)
    raise BadEncoding(f"illegal base64 data at input byte {_bad_base64_place(data)}")


def _bad_base64_place(data: bytes) -> int:
    """Where Go finds the first thing wrong."""
    place = _match_end(_BASE64_LETTERS, data, 0)
    in_group = (place - sum(data.count(char, 0, place) for char in _LINE_BREAKS)) % _BASE64_GROUP
    if place == len(data):
        return place - in_group
    if data[place] != _PAD or in_group < 2:  # noqa: PLR2004 (a byte takes two letters)
        return place
    if in_group == 2:  # noqa: PLR2004 (two letters want two pads)
        second = _match_end(_BREAKS_OR_NONE, data, place + 1)
        if second == len(data):
            return second
        if data[second] != _PAD:
            return second - 1
        place = second
    return _match_end(_BREAKS_OR_NONE, data, place + 1)


def _match_end(pattern: "re.Pattern[bytes]", data: bytes, start: int) -> int:
    found = pattern.match(data, start)
    return found.end() if found else start


def b64enc(text: str) -> str:
    return base64.b64encode(bytes_of(text)).decode()


def b64dec(text: str) -> str:
    try:
        return text_of(decode_base64(text))
    except BadEncoding as error:
        return str(error)


def b32enc(context: Context, text: str) -> str:
    context.budget.look_at_each(text)
    return base64.b32encode(bytes_of(text)).decode()


def b32dec(text: str) -> str:
    data = bytes_of(text).translate(None, _LINE_BREAKS)
    if _BASE32.fullmatch(data):
        return text_of(base64.b32decode(data))
    return f"illegal base32 data at input byte {_bad_base32_place(data)}"


def _bad_base32_place(data: bytes) -> int:
    """Where Go finds the first thing wrong."""
    size = len(data)
    place = _match_end(_BASE32_LETTERS, data, 0)
    in_group = place % _BASE32_GROUP
    if place == size:
        return size - in_group
    after = size - place - 1
    if data[place] != _PAD or in_group < 2 or after >= _BASE32_GROUP:  # noqa: PLR2004 (a byte takes two letters)
        return place
    wanted = _BASE32_GROUP - 1 - in_group
    if after < wanted:
        return size
    for offset in range(wanted):
        if data[place + 1 + offset] != _PAD:
            return place + offset
    return place


def hexdec(text: str) -> str:
    data = bytes_of(text)
    valid = _match_end(_HEX, data, 0)
    if valid < len(data):
        char = chr(data[valid])
        shown = f" '{char}'" if char.isprintable() else ""
        return f"encoding/hex: invalid byte: U+{data[valid]:04X}{shown}"
    if len(data) % 2:
        return "encoding/hex: odd length hex string"
    return text_of(bytes.fromhex(data.decode()))


FUNCTIONS: Final[FunctionTable] = table(
    {
        "b32dec": b32dec,
        "b32enc": b32enc,
        "b64dec": b64dec,
        "b64enc": b64enc,
        "hexdec": hexdec,
    }
)
