"""Formats floats as Go's strconv does."""

from decimal import Decimal
from math import copysign, frexp, isinf, isnan, ldexp
from typing import Final

_EXPONENT_FROM: Final = 6
_EXPONENT_BELOW: Final = -4
_BITS: Final = 53
_LEAST_BINARY_EXPONENT: Final = -1074
_HEX_DIGITS: Final = 13


def format_float(number: float, verb: str, precision: int | None) -> str:
    """The number under a verb of `efgExXbG`; without a precision, the fewest digits that identify it."""
    if isnan(number):
        return "NaN"
    if isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if verb == "b":
        return _binary(number)
    if verb in "xX":
        written = _hexadecimal(number, precision)
        return written.upper() if verb == "X" else written
    if precision is not None:
        return format(number, f".{precision}{verb}")
    written = _shortest(number, verb.lower())
    return written.upper() if verb in "EG" else written


def _shortest(number: float, verb: str) -> str:
    sign, digits, scale = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits))
    scale = int(scale)
    stripped = text.rstrip("0")
    scale += len(text) - len(stripped)
    if not stripped:
        stripped, scale = "0", 0
    minus = "-" if sign else ""
    exponent = len(stripped) + scale - 1
    if verb == "g":
        verb = "e" if exponent < _EXPONENT_BELOW or exponent >= _EXPONENT_FROM else "f"
    if verb == "e":
        fraction = f".{stripped[1:]}" if len(stripped) > 1 else ""
        return f"{minus}{stripped[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if scale >= 0:
        return minus + stripped + "0" * scale
    padded = stripped.rjust(1 - scale, "0")
    return f"{minus}{padded[:scale]}.{padded[scale:]}"


def _parts(number: float) -> tuple[str, int, int]:
    """Sign, mantissa of 53 bits, and its exponent."""
    fraction, exponent = frexp(abs(number))
    return "-" if copysign(1, number) < 0 else "", int(ldexp(fraction, _BITS)), exponent - _BITS


def _exponent(value: int, digits: int) -> str:
    return f"p{'-' if value < 0 else '+'}{abs(value):0{digits}d}"


def _binary(number: float) -> str:
    minus, mantissa, exponent = _parts(number)
    lost = _LEAST_BINARY_EXPONENT - exponent if mantissa else 0
    if lost > 0:
        mantissa, exponent = mantissa >> lost, _LEAST_BINARY_EXPONENT
    return f"{minus}{mantissa}{_exponent(exponent if mantissa else _LEAST_BINARY_EXPONENT, 1)}"


def _hexadecimal(number: float, precision: int | None) -> str:
    minus, mantissa, exponent = _parts(number)
    exponent = exponent + _BITS - 1 if mantissa else 0
    if precision is not None and precision < _HEX_DIGITS:
        dropped = 4 * (_HEX_DIGITS - precision)
        half, rest = 1 << (dropped - 1), mantissa & ((1 << dropped) - 1)
        kept = mantissa >> dropped
        kept += rest > half or (rest == half and kept & 1)
        mantissa = kept << dropped
        if mantissa >> _BITS:
            mantissa, exponent = mantissa >> 1, exponent + 1
    lead, digits = mantissa >> (_BITS - 1), f"{mantissa & ((1 << (_BITS - 1)) - 1):013x}"
    digits = digits.rstrip("0") if precision is None else digits[:precision].ljust(precision, "0")
    return f"{minus}0x{lead}{'.' if digits else ''}{digits}{_exponent(exponent, 2)}"
