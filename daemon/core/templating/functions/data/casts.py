"""Converts any value to a number, as sprig's arithmetic does: what is not a number counts as 0."""

import math
import re
from typing import Final

from syncret.daemon.core.templating.golang.values import Int64, Value, wrapped

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1

_PREFIXED: Final = re.compile(r"0(?:[xX](?:_?[0-9a-fA-F])+|[bB](?:_?[01])+|[oO](?:_?[0-7])+|(?:_?[0-7])+)")
_PLAIN: Final = re.compile(r"0|[1-9](?:_?[0-9])*")
_WITH_FRACTION: Final = re.compile(r"([-+]?[0-9]*)\.[0-9]*")
_DIGITS: Final = "[0-9](?:_?[0-9])*"
_HEX_DIGITS: Final = "[0-9a-f](?:_?[0-9a-f])*"
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
"""No Go integer has as many, in any base: whatever follows, the number is out of range."""


def parse_int(digits: str, base: int) -> int | None:
    """Digits of a base, with a sign or without; None for anything else.

    A number out of range of 64 bits gives some number that is out of range on the same side.
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
    """As `parse_int`, in the base that the prefix names, as in Go's source: 0x1F, 0b101, 0o17, 017, 1_000."""
    sign = -1 if digits.startswith("-") else 1
    body = digits[1:] if digits[:1] in {"+", "-"} else digits
    if _PLAIN.fullmatch(body):
        return sign * int(body.replace("_", "")[:_ENOUGH_DIGITS])
    if not _PREFIXED.fullmatch(body):
        return None
    base = _BASES.get(body[1].lower(), 0)
    return sign * int(body[2:].replace("_", "") if base else body.replace("_", ""), base or 8)


def clamped(number: int) -> int:
    """What Go's ParseInt gives back beside its error for a number out of range."""
    return max(_INT64_MIN, min(number, _INT64_MAX))


def to_int(value: Value) -> int:
    """A number in the range of int64."""
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
    """The whole part; what int64 cannot hold is the smallest number, as ESO's images have it."""
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
    """What Go's ParseFloat reads; None for what is not a number, or does not fit a float64."""
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
