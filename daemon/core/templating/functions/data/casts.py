"""Converts values to numbers as sprig's arithmetic does: what is not a number is 0."""

import math
import re
from typing import Final

from syncret.daemon.core.templating.golang.values import Int64, Value, wrapped

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1

_PREFIXED: Final = re.compile(
    r"0(?:[xX](?:_?[0-9a-fA-F])++|[bB](?:_?[01])++|[oO](?:_?[0-7])++|(?:_?[0-7])++)"
)
_PLAIN: Final = re.compile(r"0|[1-9](?:_?[0-9])*+")
_WITH_FRACTION: Final = re.compile(r"([-+]?[0-9]*)\.[0-9]*")
_DIGITS: Final = "[0-9](?:_?[0-9])*+"
_HEX_DIGITS: Final = "[0-9a-f](?:_?[0-9a-f])*+"
_FLOAT: Final = re.compile(
    rf"[-+]?(?:(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:e[-+]?{_DIGITS})?|inf(?:inity)?)|nan",
    re.IGNORECASE | re.ASCII,
)
_HEX_FLOAT: Final = re.compile(
    rf"[-+]?0x_?(?:{_HEX_DIGITS}(?:\.(?:{_HEX_DIGITS})?)?|\.{_HEX_DIGITS})p[-+]?{_DIGITS}",
    re.IGNORECASE | re.ASCII,
)
_BASES: Final = {"x": 16, "b": 2, "o": 8}
_ENOUGH_DIGITS: Final = 64
"""More digits than a Go integer has in any base: a number with more is out of range anyway."""


def parse_int(digits: str, base: int) -> int | None:
    """Parse digits of a base, with or without a sign; None for anything else.

    If the number is out of the range of 64 bits, so is the result, with the same sign.
    """
    sign = -1 if digits.startswith("-") else 1
    body = digits[1:] if digits[:1] in {"+", "-"} else digits
    if not body or not body.isascii() or not body.isalnum():
        return None
    try:
        return sign * int(body.lstrip("0")[:_ENOUGH_DIGITS] or "0", base)
    except ValueError:
        return None


def parse_literal(digits: str) -> int | None:
    """Parse a literal of Go's source, in the base of its prefix: 0x1F, 0b101, 0o17, 017, 1_000."""
    sign = -1 if digits.startswith("-") else 1
    body = digits[1:] if digits[:1] in {"+", "-"} else digits
    if _PLAIN.fullmatch(body):
        return sign * int(body.replace("_", "")[:_ENOUGH_DIGITS])
    if not _PREFIXED.fullmatch(body):
        return None
    base = _BASES.get(body[1].lower(), 0)
    return sign * int(body[2:].replace("_", "") if base else body.replace("_", ""), base or 8)


def clamped(number: int) -> int:
    """The number that Go's ParseInt returns with its error for one out of range."""
    return max(_INT64_MIN, min(number, _INT64_MAX))


def to_int(value: Value) -> int:
    """Convert to a number in the range of int64."""
    if isinstance(value, int):
        return wrapped(value)
    if isinstance(value, float):
        return float_to_int(value)
    if isinstance(value, str):
        return _int_of_text(value)
    return 0


def to_int64(value: Value) -> Int64:
    return Int64(to_int(value))


def float_to_int(number: float) -> int:
    """The integer part; the smallest int64 if it is out of range, as in ESO's images."""
    if math.isfinite(number) and _INT64_MIN <= number < -_INT64_MIN:
        return int(number)
    return _INT64_MIN


def _int_of_text(text: str) -> int:
    if "." in text:
        found = _WITH_FRACTION.fullmatch(text)
        if not found:
            return 0
        text = found[1] if found[1] not in {"", "+", "-"} else found[1] + "0"
    number = parse_literal(text)
    return number if number is not None and _INT64_MIN <= number <= _INT64_MAX else 0


def to_float(value: Value) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    number = parse_float(value) if isinstance(value, str) else None
    return 0.0 if number is None else number


def parse_float(text: str) -> float | None:
    """Parse as Go's ParseFloat does; None for what is not a number, or does not fit a float64."""
    if _FLOAT.fullmatch(text):
        number = float(text)
    elif _HEX_FLOAT.fullmatch(text):
        number = _hex_float(text)
    else:
        return None
    if math.isinf(number) and "n" not in text.lower():
        return None
    return number


def _hex_float(text: str) -> float:
    try:
        return float.fromhex(text.replace("_", ""))
    except OverflowError:
        return math.inf
