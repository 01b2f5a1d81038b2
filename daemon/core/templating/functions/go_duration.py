"""Go's time.Duration, a number of nanoseconds: read from text, written, rounded."""

import re
from typing import Final

from syncret.daemon.core.templating.functions.go_time import SECOND

_UNITS: Final = {
    "ns": 1,
    "us": 1000,
    "\u00b5s": 1000,
    "\u03bcs": 1000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]+)")
_MOST: Final = 1 << 63
_PRECISION: Final = 18


def parse_duration(text: str) -> int | None:
    """Nanoseconds; None for what is no duration, or a longer one than an int64 holds."""
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in {"-", "+"} else text
    if rest == "0":
        return 0
    total = at = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        part = _part(*found.groups("")) if found else None
        if found is None or part is None:
            return None
        total += part
        if part > _MOST or total > _MOST:
            return None
        at = found.end()
    if not rest or (total == _MOST and not negative):
        return None
    return -total if negative else total


def _part(whole: str, fraction: str, unit: str) -> int | None:
    size = _UNITS.get(unit)
    if size is None or not (whole or fraction) or len(whole.lstrip("0")) > _PRECISION + 1:
        return None
    kept = fraction[:_PRECISION]
    # Go reckons the fraction in floats, and so do we.
    nanoseconds = int(int(kept) * (size / 10 ** len(kept))) if kept else 0
    return int(whole or "0") * size + nanoseconds


def format_duration(nanoseconds: int) -> str:
    """As in `1h2m3.5s`."""
    if nanoseconds == 0:
        return "0s"
    sign = "-" if nanoseconds < 0 else ""
    left = abs(nanoseconds)
    if left < SECOND:
        for unit, size in (("ns", 1), ("\u00b5s", 1000), ("ms", 1_000_000)):
            if left < size * 1000:
                return sign + _decimal(left, size) + unit
    minutes, left = divmod(left, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    seconds = _decimal(left, SECOND) + "s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else sign + seconds


def _decimal(number: int, unit: int) -> str:
    whole, rest = divmod(number, unit)
    places = len(str(unit)) - 1
    return f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".") if rest else str(whole)


def rounded_to_seconds(nanoseconds: int) -> int:
    """Halves away from zero."""
    seconds = (abs(nanoseconds) + SECOND // 2) // SECOND * SECOND
    return seconds if nanoseconds >= 0 else -seconds
