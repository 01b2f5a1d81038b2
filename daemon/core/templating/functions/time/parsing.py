"""Parses times by Go's layouts."""

import re
from calendar import isleap, monthrange
from dataclasses import dataclass, field
from typing import Final

from syncret.daemon.core.templating.functions.data.casts import parse_int
from syncret.daemon.core.templating.functions.time.instants import UTC, Time, Zone, instant_of, seconds_of
from syncret.daemon.core.templating.functions.time.layouts import DAYS, MONTHS, chunks

_ZONE_FORMS: Final = {
    "070000": r"([-+])(..)(..)(..)",
    "07:00:00": r"([-+])(..):(..):(..)",
    "0700": r"([-+])(..)(..)()",
    "07:00": r"([-+])(..):(..)()",
    "07": r"([-+])(..)()()",
}
_ZONE_NAME: Final = re.compile(
    r"ChST|MeST|GMT(?:[-+](?:0*(?:1?[0-9]|2[0-3]))(?![0-9]))?|[-+]0*(?:1?[0-9]|2[0-3])(?![0-9])"
    r"|(?:[A-Z]{4}T|[A-Z]{3}T|WITA|[A-Z]{3})(?![A-Z])"
)
_TWO_DIGIT_YEAR: Final = 69
_LAST_OFFSET_HOUR: Final = 24
_LAST_OFFSET_PART: Final = 60


@dataclass
class _Reading:
    """The text, and what has been parsed so far."""

    text: str
    year: int = 0
    month: int = 0
    day: int = -1
    day_of_year: int = -1
    clock: dict[str, int] = field(default_factory=dict[str, int])
    nano: int = 0
    half: str = ""
    utc: bool = False
    offset: int | None = None
    zone_name: str = ""


class _UnreadableError(Exception):
    """The text does not match the layout."""


def parse_time(layout: str, text: str, local: Zone) -> Time | None:
    """Parse a time, in the local zone if it names none; None if it does not match the layout."""
    reading = _Reading(text)
    parts = chunks(layout)
    try:
        for place, (literal, element) in enumerate(parts):
            _skip(reading, literal)
            if element:
                following = parts[place + 1]
                _read(reading, element, has_fraction=not following[0] and following[1][:1] in {".", ","})
        if reading.text:
            return None
        return _time_of(reading, local)
    except _UnreadableError:
        return None


def _skip(reading: _Reading, literal: str) -> None:
    """Skip literal text; any number of spaces matches any other number."""
    while literal:
        if literal[0] == " ":
            if reading.text and reading.text[0] != " ":
                raise _UnreadableError
            literal, reading.text = literal.lstrip(" "), reading.text.lstrip(" ")
        elif reading.text[:1] == literal[0]:
            literal, reading.text = literal[1:], reading.text[1:]
        else:
            raise _UnreadableError


def _take(reading: _Reading, pattern: str) -> "re.Match[str]":
    found = re.match(pattern, reading.text, re.ASCII | re.DOTALL)
    if found is None:
        raise _UnreadableError
    reading.text = reading.text[found.end() :]
    return found


def _read(reading: _Reading, element: str, *, has_fraction: bool) -> None:  # noqa: C901, PLR0912 (the table of the language)
    match element:
        case "2006":
            reading.year = int(_take(reading, r"\d{4}")[0])
        case "06":
            year = int(_take(reading, r"\d{2}|[-+]\d")[0])
            reading.year = year + (1900 if year >= _TWO_DIGIT_YEAR else 2000)
        case "January" | "Jan":
            reading.month = _name(
                reading, [month[: len(month) if element != "Jan" else 3] for month in MONTHS]
            )
        case "Monday" | "Mon":
            _name(reading, [day[: len(day) if element != "Mon" else 3] for day in DAYS])
        case "1" | "01":
            reading.month = _number(reading, element, 1, 12)
        case "2" | "_2" | "02":
            reading.text = reading.text.removeprefix(" ") if element == "_2" else reading.text
            reading.day = _number(reading, element, 0, 99)
        case "002" | "__2":
            pattern = r"\d{3}" if element == "002" else r" {0,2}(\d{1,3})"
            reading.day_of_year = int(_take(reading, pattern)[0])
        case "15":
            reading.clock["hour"] = _number(reading, "1", 0, 23)
        case "3" | "03":
            reading.clock["hour"] = _number(reading, element, 0, 12)
        case "4" | "04":
            reading.clock["minute"] = _number(reading, element, 0, 59)
        case "5" | "05":
            reading.clock["second"] = _number(reading, element, 0, 59)
            if not has_fraction and re.match(r"[.,]\d", reading.text, re.ASCII):
                _read_fraction(reading, r"[.,](\d+)")
        case "PM" | "pm":
            reading.half = _take(reading, "PM|AM" if element == "PM" else "pm|am")[0].lower()
        case "MST":
            _read_zone_name(reading)
        case _ if element[0] in ".,":
            digits = len(element) - 1
            if element[1] == "0":
                _read_fraction(reading, rf"[.,](\d{{{digits}}})")
            elif re.match(r"[.,]\d", reading.text, re.ASCII):
                _read_fraction(reading, r"[.,](\d+)")
        case _:
            _read_offset(reading, element)


def _name(reading: _Reading, names: list[str]) -> int:
    for number, name in enumerate(names, start=1):
        if reading.text[: len(name)].lower() == name.lower():
            reading.text = reading.text[len(name) :]
            return number
    raise _UnreadableError


def _number(reading: _Reading, element: str, least: int, most: int) -> int:
    number = int(_take(reading, r"\d{2}" if element.startswith("0") else r"\d{1,2}")[0])
    if not least <= number <= most:
        raise _UnreadableError
    return number


def _read_fraction(reading: _Reading, pattern: str) -> None:
    reading.nano = int(_take(reading, pattern)[1][:9].ljust(9, "0"))


def _read_zone_name(reading: _Reading) -> None:
    if reading.text.startswith("UTC"):
        reading.text = reading.text[3:]
        reading.utc = True
        return
    found = _ZONE_NAME.match(reading.text)
    if found is None:
        raise _UnreadableError
    reading.zone_name = found[0]
    reading.text = reading.text[found.end() :]


def _read_offset(reading: _Reading, element: str) -> None:
    if element[0] == "Z" and reading.text.startswith("Z"):
        reading.text = reading.text[1:]
        reading.utc = True
        return
    sign, *parts = _take(reading, _ZONE_FORMS[element[1:]]).groups()
    if not all(re.fullmatch(r"(?:\d{2})?", part, re.ASCII) for part in parts):
        raise _UnreadableError
    hours, minutes, seconds = (int(part or "0") for part in parts)
    if hours > _LAST_OFFSET_HOUR or max(minutes, seconds) > _LAST_OFFSET_PART:
        raise _UnreadableError
    offset = (hours * 60 + minutes) * 60 + seconds
    reading.offset = -offset if sign == "-" else offset


def _time_of(reading: _Reading, local: Zone) -> Time:
    hour = reading.clock.get("hour", 0)
    if reading.half == "pm" and hour < 12:  # noqa: PLR2004 (noon)
        hour += 12
    elif reading.half == "am" and hour == 12:  # noqa: PLR2004 (midnight)
        hour = 0
    clock = (hour, reading.clock.get("minute", 0), reading.clock.get("second", 0))
    second = seconds_of(_date_of(reading), clock)
    if reading.utc:
        return Time(second, reading.nano, UTC)
    if reading.offset is not None:
        second -= reading.offset
        name, offset = local.at(second)
        if offset == reading.offset and reading.zone_name in {"", name}:
            return Time(second, reading.nano, local)
        return Time(second, reading.nano, Zone(None, reading.offset, reading.zone_name))
    if reading.zone_name:
        return _in_named_zone(second, reading, local)
    return Time(instant_of(second, local), reading.nano, local)


def _date_of(reading: _Reading) -> tuple[int, int, int]:
    year, month, day = reading.year, reading.month, reading.day
    if reading.day_of_year >= 0:
        month, day = _from_day_of_year(reading)
    month, day = month or 1, 1 if day < 0 else day
    # Python has no year 0; year 4 has the same months.
    if not 1 <= day <= monthrange(year or 4, month)[1]:
        raise _UnreadableError
    return year, month, day


def _from_day_of_year(reading: _Reading) -> tuple[int, int]:
    year = reading.year or 4
    if not 1 <= reading.day_of_year <= 365 + isleap(year):
        raise _UnreadableError
    month, left = 1, reading.day_of_year
    while left > monthrange(year, month)[1]:
        left -= monthrange(year, month)[1]
        month += 1
    if reading.month not in {0, month} or reading.day not in {-1, left}:
        raise _UnreadableError
    return month, left


def _in_named_zone(second: int, reading: _Reading, local: Zone) -> Time:
    name, offset = local.at(instant_of(second, local))
    if name == reading.zone_name:
        return Time(second - offset, reading.nano, local)
    # An abbreviation alone has no offset, except GMT with a number.
    shift = reading.zone_name.removeprefix("GMT")
    hours = parse_int(shift, 10) if shift != reading.zone_name else None
    offset = (hours or 0) * 3600
    return Time(second, reading.nano, Zone(None, offset, reading.zone_name))
