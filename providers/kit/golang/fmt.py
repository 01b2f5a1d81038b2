"""Prints JSON values as Go's `fmt` does with `%v`, which is how the operator writes some vendors' maps."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, cast

from syncret.config.fields import Json
from syncret.providers.kit.golang.json import plain_float
from syncret.providers.work import Work

_EXPONENT_FROM: Final = 6
_EXPONENT_BELOW: Final = -4
_VALUE_COST: Final = 5


def printed(value: Json, work: Work) -> str:
    """Strings as they are, `map[a:1 b:[x y]]`, `<nil>`; numbers are floats, as Go reads them."""
    work.step(_VALUE_COST)
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(float(value))
        case dict():
            fields = cast("Mapping[str, Json]", value)
            return f"map[{_spaced([f'{key}:{printed(fields[key], work)}' for key in sorted(fields)], work)}]"
        case list() | tuple():
            return f"[{_spaced([printed(item, work) for item in cast('Sequence[Json]', value)], work)}]"
        case _:
            return str(value)


def _spaced(parts: Sequence[str], work: Work) -> str:
    work.make(sum(map(len, parts)) + len(parts))
    return " ".join(parts)


def number(value: float) -> str:
    """A float with the fewest digits that round-trip; with an exponent from 1e6 on, and below 1e-4."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:+}".title()
    shortest = Decimal(repr(value)).normalize()
    if value == 0 or _EXPONENT_BELOW <= shortest.adjusted() < _EXPONENT_FROM:
        return plain_float(value)
    return format(value, f".{len(shortest.as_tuple().digits) - 1}e")
