"""Number constants as Go reads them: which types can hold one, and with what value."""

import re
from math import isinf
from typing import Final

from syncret.daemon.core.templating.nodes import Number
from syncret.daemon.core.templating.quoting import unquote_character

_MARKS_OF_FLOATS: Final = frozenset(".eEpP")
_UNDERSCORES: Final = re.compile(
    r"[+-]?(?:0[bBoOxX](?:_?[0-9a-fA-F])|[0-9])[^_]*(?:(?<=[0-9a-fA-F])_(?=[0-9a-fA-F])[^_]*)*"
)
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1
_MOST_UNSIGNED: Final = 2**64 - 1


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
