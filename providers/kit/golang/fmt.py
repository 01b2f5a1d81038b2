"""Prints JSON values as Go's `fmt` does with `%v`, which is how the operator writes some vendors' maps."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, cast

from syncret.config.fields import Json
from syncret.providers.kit.golang.json import plain_float

_EXPONENT_FROM: Final = 6
_EXPONENT_BELOW: Final = -4


def printed(value: Json) -> str:
    """Strings as they are, `map[a:1 b:[x y]]`, `<nil>`; numbers are floats, as Go reads them."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(float(value))
        case dict():
            fields = cast("Mapping[str, Json]", value)
            return f"map[{' '.join(f'{key}:{printed(fields[key])}' for key in sorted(fields))}]"
        case list() | tuple():
            return f"[{' '.join(printed(item) for item in cast('Sequence[Json]', value))}]"
        case _:
            return str(value)


def number(value: float) -> str:
    """A float with the fewest digits that round-trip; with an exponent from 1e6 on, and below 1e-4."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:+}".title()
    shortest = Decimal(repr(value)).normalize()
    if value == 0 or _EXPONENT_BELOW <= shortest.adjusted() < _EXPONENT_FROM:
        return plain_float(value)
    return format(value, f".{len(shortest.as_tuple().digits) - 1}e")
