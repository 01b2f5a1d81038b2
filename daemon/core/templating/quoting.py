"""Go's quoted strings and characters, read and written."""

import re
from typing import Final

from syncret.daemon.core.templating.values import text_of

REPLACEMENT: Final = "\ufffd"
_LAST_RUNE: Final = 0x10FFFF

_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\\'\"])|x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))"
)
_WRITTEN: Final = {written: f"\\{letter}" for letter, written in _SIMPLE.items()}
_SURROGATES: Final = range(0xD800, 0xE000)
_INVALID_BYTES: Final = range(0xDC80, 0xDD00)


def unquote(literal: str) -> str | None:
    """The string that a literal in double or back quotes stands for; None if it is malformed."""
    inner = literal[1:-1]
    if literal[0] == "`":
        return inner.replace("\r", "")
    if "\\" not in inner:
        return inner
    data = bytearray()
    for part in re.split(r"(\\(?:x..|[0-7]{1,3}|u.{0,4}|U.{0,8}|.))", inner):
        if not part.startswith("\\"):
            data += part.encode("utf-8", "surrogateescape")
            continue
        escaped = _unescaped(part, '"')
        if escaped is None:
            return None
        data += escaped
    return text_of(bytes(data))


def unquote_character(literal: str) -> int | None:
    """The number of the character that a literal in single quotes is; None if it is not one character."""
    inner = literal[1:-1]
    if inner.startswith("\\"):
        escape = _ESCAPE.fullmatch(inner)
        if escape is None or escape["simple"] == '"':
            return None
        if escape["byte"]:
            return int(escape["byte"], 16)
        data = _unescaped(inner, "'")
        if data is None:
            return None
        return int(escape["octal"], 8) if escape["octal"] else ord(data.decode())
    if len(inner) != 1 or inner == "'":
        return None
    return 0xFFFD if ord(inner) in _SURROGATES else ord(inner)


def _unescaped(part: str, quote: str) -> bytes | None:
    escape = _ESCAPE.fullmatch(part)
    if escape is None:
        return None
    if escape["simple"]:
        letter = escape["simple"]
        return quote.encode() if letter == quote else _SIMPLE[letter].encode() if letter in _SIMPLE else None
    if escape["byte"]:
        return bytes.fromhex(escape["byte"])
    if escape["octal"]:
        number = int(escape["octal"], 8)
        return bytes([number]) if number < 0x100 else None  # noqa: PLR2004 (a byte)
    number = int(escape["short"] or escape["long"], 16)
    if number > _LAST_RUNE or number in _SURROGATES:
        return None
    return chr(number).encode()


def quote(text: str, *, ascii_only: bool = False) -> str:
    """The text in double quotes, what cannot be printed escaped."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escaped(each, '"', ascii_only=ascii_only) for each in text) + '"'


def quote_rune(number: int, *, ascii_only: bool = False) -> str:
    """One character in single quotes."""
    return f"'{_escaped(rune(number), chr(39), ascii_only=ascii_only)}'"


def rune(number: int) -> str:
    """The character of this number, or the replacement character where there is none."""
    return REPLACEMENT if not 0 <= number <= _LAST_RUNE or number in _SURROGATES else chr(number)


def can_backquote(text: str) -> bool:
    """Whether the text can be put in back quotes unchanged."""
    return not any(
        (each < " " and each != "\t") or each in "`\x7f\ufeff" or ord(each) in _SURROGATES for each in text
    )


def _escaped(character: str, quote: str, *, ascii_only: bool) -> str:
    number = ord(character)
    if number in _INVALID_BYTES:
        return f"\\x{number - 0xDC00:02x}"
    if character in (quote, "\\"):
        return f"\\{character}"
    if character.isprintable() and (character.isascii() or not ascii_only):
        return character
    if character in _WRITTEN:
        return _WRITTEN[character]
    if character < " " or character == "\x7f":
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 (the form's limit)
