"""Arithmetic with 64-bit integers that wrap around, and with decimals (the functions that end in `f`)."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.crypto.random import below
from syncret.daemon.core.templating.functions.data.casts import clamped, parse_int, to_float, to_int, to_int64
from syncret.daemon.core.templating.functions.text.strings import strval
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import Int64, Value, wrapped

_PLACES: Final = 10**16
"""A quotient keeps sixteen decimal places."""

_BEYOND_INT64: Final = float(1 << 63)
_SHARE: Final = 7
"""Work of one decimal operation: a unit per 128 bits of its result."""


def add(*numbers: Value) -> Int64:
    return Int64(sum(map(to_int, numbers)))


def add1(number: Value) -> Int64:
    return Int64(to_int(number) + 1)


def sub(number: Value, less: Value) -> Int64:
    return Int64(to_int(number) - to_int(less))


def mul(number: Value, *factors: Value) -> Int64:
    product = to_int64(number)
    for factor in factors:
        product = Int64(product * to_int(factor))
    return product


def div(number: Value, divisor: Value) -> Int64:
    quotient, _ = _truncated(to_int(number), to_int(divisor))
    return Int64(quotient)


def mod(number: Value, divisor: Value) -> Int64:
    _, rest = _truncated(to_int(number), to_int(divisor))
    return Int64(rest)


def _truncated(number: int, divisor: int) -> tuple[int, int]:
    """Go divides towards zero."""
    if divisor == 0:
        raise FunctionError("integer divide by zero")
    quotient = abs(number) // abs(divisor)
    if (number < 0) != (divisor < 0):
        quotient = -quotient
    return quotient, number - quotient * divisor


def greatest(number: Value, *others: Value) -> Int64:
    return Int64(max(map(to_int, (number, *others))))


def least(number: Value, *others: Value) -> Int64:
    return Int64(min(map(to_int, (number, *others))))


def rand_int(context: Context, low: int, high: int) -> int:
    span = Int64(high - low)
    if span <= 0:
        raise FunctionError("the upper bound is not above the lower")
    return wrapped(low + below(context, span))


def _decimal(number: float) -> Fraction:
    if not math.isfinite(number):
        raise FunctionError("no decimal can hold this number")
    return Fraction(repr(number))


def _reckon(
    context: Context,
    number: float,
    others: tuple[Value, ...],
    operation: Callable[[Fraction, Fraction], Fraction],
) -> float:
    result = _decimal(number)
    for other in others:
        result = operation(result, _decimal(to_float(other)))
        context.budget.step((result.numerator.bit_length() + result.denominator.bit_length()) >> _SHARE)
    try:
        return float(result)
    except OverflowError:
        return math.inf if result > 0 else -math.inf


def _divide(number: Fraction, divisor: Fraction) -> Fraction:
    if divisor == 0:
        raise FunctionError("decimal division by 0")
    scaled = abs(number / divisor) * _PLACES
    rounded = Fraction(math.floor(scaled + Fraction(1, 2)), _PLACES)
    return rounded if (number < 0) == (divisor < 0) else -rounded


def addf(context: Context, *numbers: Value) -> float:
    return _reckon(context, 0.0, numbers, Fraction.__add__)


def add1f(context: Context, number: Value) -> float:
    return _reckon(context, to_float(number), (1,), Fraction.__add__)


def subf(context: Context, number: Value, *others: Value) -> float:
    return _reckon(context, to_float(number), others, Fraction.__sub__)


def mulf(context: Context, number: Value, *others: Value) -> float:
    return _reckon(context, to_float(number), others, Fraction.__mul__)


def divf(context: Context, number: Value, *others: Value) -> float:
    return _reckon(context, to_float(number), others, _divide)


def maxf(number: Value, *others: Value) -> float:
    return _extreme(number, others, 1.0)


def minf(number: Value, *others: Value) -> float:
    return _extreme(number, others, -1.0)


def _extreme(number: Value, others: tuple[Value, ...], sign: float) -> float:
    """The largest or smallest number: infinity of that sign before NaN, NaN before numbers, +0 above -0."""
    best = to_float(number)
    for value in others:
        other = to_float(value)
        if math.inf in (sign * best, sign * other):
            best = sign * math.inf
        elif math.isnan(best) or math.isnan(other):
            best = math.nan
        elif (sign * other, sign * math.copysign(1.0, other)) > (
            sign * best,
            sign * math.copysign(1.0, best),
        ):
            best = other
    return best


def floor(number: Value) -> float:
    return _whole(to_float(number), math.floor)


def ceil(number: Value) -> float:
    return _whole(to_float(number), math.ceil)


def _whole(number: float, rounding: Callable[[float], int]) -> float:
    return math.copysign(float(rounding(number)), number) if math.isfinite(number) else number


def round_(number: Value, places: int, *limits: float) -> float:
    """Round to so many places; up from a fraction of `limit` on, which is 0.5 by default."""
    power = _power_of_ten(places)
    digits = to_float(number) * power
    fraction = math.modf(digits)[0] if math.isfinite(digits) else math.nan
    digits = _whole(digits, math.ceil if fraction >= (limits[0] if limits else 0.5) else math.floor)
    if power == 0:
        return math.nan if digits == 0 or math.isnan(digits) else math.copysign(math.inf, digits)
    return digits / power


def _power_of_ten(exponent: int) -> float:
    """10 to the power as Go's math.Pow computes it, which is inexact for large exponents."""
    steps = abs(exponent)
    if float(steps) >= _BEYOND_INT64:
        return math.inf if exponent > 0 else 0.0
    result, result_exponent = 1.0, 0
    square, square_exponent = math.frexp(10.0)
    while steps:
        if abs(square_exponent) > 1 << 12:
            result_exponent += square_exponent
            break
        if steps & 1:
            result *= square
            result_exponent += square_exponent
        square *= square
        square_exponent *= 2
        if square < 0.5:  # noqa: PLR2004 (a mantissa is at least a half)
            square += square
            square_exponent -= 1
        steps >>= 1
    if exponent < 0:
        result, result_exponent = 1 / result, -result_exponent
    try:
        return math.ldexp(result, result_exponent)
    except OverflowError:
        return math.inf


def to_decimal(context: Context, value: Value) -> Int64:
    """Convert octal digits to a decimal number."""
    number = parse_int(strval(context, value), 8)
    return Int64(number) if number is not None and clamped(number) == number else Int64(0)


def atoi(digits: str) -> int:
    return clamped(parse_int(digits, 10) or 0)


def as_int(value: Value) -> int:
    return to_int(value)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "add": add,
        "add1": add1,
        "add1f": add1f,
        "addf": addf,
        "atoi": atoi,
        "biggest": greatest,
        "ceil": ceil,
        "div": div,
        "divf": divf,
        "float64": to_float,
        "floor": floor,
        "int": as_int,
        "int64": to_int64,
        "max": greatest,
        "maxf": maxf,
        "min": least,
        "minf": minf,
        "mod": mod,
        "mul": mul,
        "mulf": mulf,
        "randInt": rand_int,
        "round": round_,
        "sub": sub,
        "subf": subf,
        "toDecimal": to_decimal,
    }
)
