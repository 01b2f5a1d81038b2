"""Durations as Go writes them (`1h30m`): read with Go's own rules and error texts, written as Go prints them.

Go counts whole nanoseconds, so durations are computed in them; callers get seconds.
"""

import re
from functools import lru_cache
from typing import Final

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, the micro sign
    "μs": 1_000,  # U+03BC, the Greek letter: Go takes both
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_SECOND: Final = _UNITS["s"]
_COARSE: Final = ((86400, "d"), (3600, "h"), (60, "m"))
_TWICE: Final = 2
"""A coarse unit is used from two of it on: 90s, then 2m; 47h, then 2d."""
_MAX: Final = 2**63 - 1
_DIGITS: Final = 19
_PRECISION: Final = 18
_SHOWN: Final = 40
_PART: Final = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?")
_ODD: Final = re.compile(r'["\\]|[^ -\x7f]')
_UNIT: Final = re.compile(r"[^.0-9]+")


class DurationError(ValueError):
    """The text is not a duration; the message is the one that Go gives."""


def parse_nanoseconds(text: str) -> int:
    """The duration in nanoseconds. Raises DurationError where `time.ParseDuration` fails."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    if not rest:
        raise _invalid(text)
    total = 0
    place = 0
    while place < len(rest):
        part = _PART.match(rest, place)
        if part is None or not (part[1] or part[3]) or len(part[1].lstrip("0")) > _DIGITS:
            raise _invalid(text)
        place = part.end()
        unit = _UNIT.match(rest, place)
        if unit is None:
            raise DurationError(f"time: missing unit in duration {_quoted(text)}")
        if unit[0] not in _UNITS:
            raise DurationError(f"time: unknown unit {_quoted(unit[0])} in duration {_quoted(text)}")
        place = unit.end()
        scale = _UNITS[unit[0]]
        fraction = (part[3] or "")[:_PRECISION]
        # Go computes the fraction in floats, so we do too.
        total += int(part[1].lstrip("0") or "0") * scale
        total += int(int(fraction or "0") * (scale / 10 ** len(fraction)))
        if total > _MAX + (sign < 0):
            raise _invalid(text)
    return sign * total


@lru_cache(maxsize=1024)  # thousands of objects have the same few intervals
def parse_duration(text: str) -> float:
    """The duration in seconds. Raises DurationError where `time.ParseDuration` fails."""
    return parse_nanoseconds(text) / _SECOND


def span(seconds: float) -> str:
    """A span of time in one unit: 90s, 5m, 26h, 3d."""
    for size, unit in _COARSE:
        if seconds >= _TWICE * size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


def format_duration(seconds: float) -> str:
    """The duration as Go prints it: `1h0m0s`, `1.5s`, `300ms`, `0s`."""
    return format_nanoseconds(round(seconds * _SECOND))


def format_nanoseconds(nanoseconds: int) -> str:
    """As `format_duration`, of a whole number of nanoseconds."""
    sign = "-" if nanoseconds < 0 else ""
    nanoseconds = abs(nanoseconds)
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < _SECOND:
        unit = next(unit for unit in ("ms", "µs", "ns") if nanoseconds >= _UNITS[unit])
        return f"{sign}{_decimal(nanoseconds, _UNITS[unit])}{unit}"
    minutes, rest = divmod(nanoseconds, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{head}{_decimal(rest, _SECOND)}s"


def _decimal(value: int, scale: int) -> str:
    whole, rest = divmod(value, scale)
    return f"{whole}.{str(rest).zfill(len(str(scale)) - 1).rstrip('0')}" if rest else str(whole)


def _invalid(text: str) -> DurationError:
    return DurationError(f"time: invalid duration {_quoted(text)}")


def _quoted(text: str) -> str:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return '"' + _ODD.sub(_escaped, shown) + '"'


def _escaped(found: "re.Match[str]") -> str:
    """Bytes that are not printable ASCII, escaped one by one as Go's `time` package does."""
    if found[0] in '"\\':
        return f"\\{found[0]}"
    return "".join(f"\\x{byte:02x}" for byte in found[0].encode(errors="surrogatepass"))
