"""Go's literals: unquotes and quotes strings and characters, and parses number constants."""

import re
from functools import partial
from math import isinf
from typing import Final

from syncret.daemon.core.templating.characters import Characters
from syncret.daemon.core.templating.golang.nodes import Number
from syncret.daemon.core.templating.golang.values import text_of

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
_MARKS_OF_FLOATS: Final = frozenset(".eEpP")
_UNDERSCORES: Final = re.compile(
    r"[+-]?(?:0[bBoOxX](?:_?[0-9a-fA-F])|[0-9])[^_]*(?:(?<=[0-9a-fA-F])_(?=[0-9a-fA-F])[^_]*)*"
)
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
)
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1
_MOST_UNSIGNED: Final = 2**64 - 1


def unquote(literal: str) -> str | None:
    """The string of a literal in double or back quotes; None if it is malformed."""
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
    """The code point of a literal in single quotes; None if it is not one character."""
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
    """The text in double quotes, with unprintable characters escaped."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_QUOTED_ASCII if ascii_only else _QUOTED)}"'


def quote_rune(number: int, *, ascii_only: bool = False) -> str:
    """One character in single quotes."""
    return f"'{_escaped(rune(number), quote=chr(39), ascii_only=ascii_only)}'"


def _escaped(character: str, *, quote: str, ascii_only: bool) -> str:
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


_QUOTED: Final = Characters(partial(_escaped, quote='"', ascii_only=False))
_QUOTED_ASCII: Final = Characters(partial(_escaped, quote='"', ascii_only=True))


def rune(number: int) -> str:
    """The character of a code point, or the replacement character if there is none."""
    return REPLACEMENT if not 0 <= number <= _LAST_RUNE or number in _SURROGATES else chr(number)


def can_backquote(text: str) -> bool:
    """Whether the text can be put in back quotes unchanged."""
    return not any(
        (each < " " and each != "\t") or each in "`\x7f\ufeff" or ord(each) in _SURROGATES for each in text
    )


class BadNumber(ValueError):
    """The constant is malformed; the message says why."""


def character(position: int, text: str) -> Number:
    """A character constant: a number of every type."""
    value = unquote_character(text)
    if value is None:
        raise BadNumber("malformed character constant")
    return Number(position, text, value, value, float(value))


def number(position: int, text: str) -> Number:
    """A number, or an imaginary one."""
    if text.endswith("i"):
        imaginary = _float(text[:-1])
        if imaginary is not None:
            return _simplified(position, text, complex(0, imaginary))
    value = _integer(text)
    signed = value if value is not None and _LEAST <= value <= _MOST else None
    unsigned = value if value is not None and 0 <= value <= _MOST_UNSIGNED else None
    if unsigned and text[0] == "+":
        unsigned = None
    if signed is not None:
        return Number(position, text, signed, unsigned, float(signed))
    if unsigned is not None:
        return Number(position, text, signed, unsigned, float(unsigned))
    floating = _float(text)
    if floating is None:
        raise BadNumber("illegal number syntax")
    if _MARKS_OF_FLOATS.isdisjoint(text):
        raise BadNumber("integer overflow")
    return Number(position, text, _as_signed(floating), _as_unsigned(floating), floating)


def complex_number(position: int, text: str) -> Number:
    """A real and an imaginary part."""
    split = re.match(r"(.+?)(?<![eEpP])([+-].*)i$", text)
    parts = (_float(split[1]), _float(split[2])) if split else (None, None)
    if parts[0] is None or parts[1] is None:
        raise BadNumber("illegal number syntax")
    return _simplified(position, text, complex(parts[0], parts[1]))


def _simplified(position: int, text: str, value: complex) -> Number:
    if value.imag:
        return Number(position, text, imaginary=value)
    return Number(position, text, _as_signed(value.real), _as_unsigned(value.real), value.real, value)


def _as_signed(value: float) -> int | None:
    return int(value) if value.is_integer() and _LEAST <= value <= _MOST else None


def _as_unsigned(value: float) -> int | None:
    return int(value) if value.is_integer() and 0 <= value <= _MOST_UNSIGNED else None


def _integer(text: str) -> int | None:
    digits = text.lstrip("+-")
    if not digits[:1].isdigit():
        return None
    if len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567_":
        digits = "0o" + digits[1:]
    try:
        value = int(digits, 0)
    except ValueError:
        return None
    return -value if text[0] == "-" else value


def _float(text: str) -> float | None:
    if "_" in text:
        if not _UNDERSCORES.fullmatch(text):
            return None
        text = text.replace("_", "")
    if _DECIMAL.fullmatch(text):
        value = float(text)
    elif _HEXADECIMAL.fullmatch(text):
        try:
            value = float.fromhex(text)
        except OverflowError:
            return None
    else:
        return None
    return None if isinf(value) else value
