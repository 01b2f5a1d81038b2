"""Formats times by Go's layouts ("2006-01-02 15:04:05")."""

import re
from functools import lru_cache
from typing import Final

from syncret.daemon.core.templating.functions.time.instants import Time

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_CHUNK: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|15|1|2006|2|(?<=_)2006|_2(?!006)|__2|3|4|5|PM|pm"
    r"|[-Z](?:070000|07:00:00|0700|07:00|07)|[.,](?:0+|9+)(?![0-9])"
)


@lru_cache(maxsize=256)
def chunks(layout: str) -> tuple[tuple[str, str], ...]:
    """Split a layout into pairs of literal text and the element after it; the last element is empty."""
    found: list[tuple[str, str]] = []
    done = 0
    for chunk in _CHUNK.finditer(layout):
        found.append((layout[done : chunk.start()], chunk[0]))
        done = chunk.end()
    return (*found, (layout[done:], ""))


def format_time(time: Time, layout: str) -> str:
    """Format the time in its zone."""
    year, moment = time.civil
    name, offset = time.zone.at(time.second)
    hour12 = moment.hour % 12 or 12
    year_text = f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    day_of_year = moment.timetuple().tm_yday
    fixed = {
        "January": MONTHS[moment.month - 1],
        "Jan": MONTHS[moment.month - 1][:3],
        "Monday": DAYS[moment.weekday()],
        "Mon": DAYS[moment.weekday()][:3],
        "MST": name or _offset_text(offset, "-0700"),
        "01": f"{moment.month:02d}",
        "02": f"{moment.day:02d}",
        "03": f"{hour12:02d}",
        "04": f"{moment.minute:02d}",
        "05": f"{moment.second:02d}",
        "06": f"{abs(year) % 100:02d}",
        "002": f"{day_of_year:03d}",
        "15": f"{moment.hour:02d}",
        "1": str(moment.month),
        "2006": year_text,
        "2": str(moment.day),
        "_2": f"{moment.day:2d}",
        "__2": f"{day_of_year:3d}",
        "3": str(hour12),
        "4": str(moment.minute),
        "5": str(moment.second),
        "PM": "PM" if moment.hour >= 12 else "AM",  # noqa: PLR2004 (noon)
        "pm": "pm" if moment.hour >= 12 else "am",  # noqa: PLR2004 (noon)
        "": "",
    }
    written: list[str] = []
    for literal, element in chunks(layout):
        written.append(literal)
        if element in fixed:
            written.append(fixed[element])
        elif element[0] in ".,":
            written.append(_fraction(time.nano, element))
        else:
            written.append(_offset_text(offset, element))
    return "".join(written)


def _offset_text(offset: int, element: str) -> str:
    if offset == 0 and element[0] == "Z":
        return "Z"
    hours, rest = divmod(abs(offset), 3600)
    minutes, seconds = divmod(rest, 60)
    sign = "-" if offset < 0 else "+"
    # An offset of less than a minute has a plus sign.
    sign = "+" if abs(offset) < 60 else sign  # noqa: PLR2004 (a minute)
    form = element[1:].replace("07", f"{hours:02d}", 1)
    colon = ":" if ":" in form else ""
    parts = [f"{hours:02d}", f"{minutes:02d}", f"{seconds:02d}"][: len(element.replace(":", "")) // 2]
    return sign + colon.join(parts)


def _fraction(nano: int, element: str) -> str:
    digits = f"{nano:09d}"[: len(element) - 1]
    if element[1] == "9":
        digits = digits.rstrip("0")
        return element[0] + digits if digits else ""
    return element[0] + digits.ljust(min(len(element) - 1, 9), "0")
