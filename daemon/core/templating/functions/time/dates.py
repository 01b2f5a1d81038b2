"""Dates: now, date, dateInZone, dateModify, ago, duration, toDate and others, with Go's layouts."""

from dataclasses import replace
from typing import Annotated, Final

from syncret.config.durations import DurationError, format_nanoseconds, parse_nanoseconds
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.data.casts import clamped, parse_int
from syncret.daemon.core.templating.functions.time.instants import (
    SECOND,
    TIME,
    Time,
    Zone,
    load_zone,
    local_zone,
    now_of,
)
from syncret.daemon.core.templating.functions.time.layouts import format_time
from syncret.daemon.core.templating.functions.time.parsing import parse_time
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import Int32, Int64, Value, wrapped

_HTML: Final = "2006-01-02"
_HOUR: Final = 3600 * SECOND
_UNITS: Final = (
    ("y", 365 * 24 * _HOUR),
    ("mo", 30 * 24 * _HOUR),
    ("d", 24 * _HOUR),
    ("h", _HOUR),
    ("m", 60 * SECOND),
    ("s", SECOND),
)


def now(context: Context) -> Time:
    return now_of(context.now)


def _in_zone(context: Context, layout: str, value: Value, zone: Zone) -> str:
    if isinstance(value, Time):
        time = value
    elif type(value) in {int, Int64, Int32} and isinstance(value, int):
        time = Time(int(value))
    else:
        time = now_of(context.now)
    context.budget.make(4 * len(layout))
    return format_time(replace(time, zone=zone), layout)


def _zone(context: Context, name: str) -> Zone:
    return local_zone(context.now) if name == "Local" else load_zone(name)


def date(context: Context, layout: str, value: Value) -> str:
    return _in_zone(context, layout, value, local_zone(context.now))


def date_in_zone(context: Context, layout: str, value: Value, zone: str) -> str:
    return _in_zone(context, layout, value, _zone(context, zone))


def html_date(context: Context, value: Value) -> str:
    return _in_zone(context, _HTML, value, local_zone(context.now))


def html_date_in_zone(context: Context, value: Value, zone: str) -> str:
    return _in_zone(context, _HTML, value, _zone(context, zone))


def date_modify(change: str, time: Annotated[Time, TIME]) -> Time:
    """Add a duration; a malformed one changes nothing."""
    return time.add(_nanoseconds(change) or 0)


def _nanoseconds(text: str) -> int | None:
    """Parse a duration as Go does; None for anything else."""
    try:
        return parse_nanoseconds(text)
    except DurationError:
        return None


def must_date_modify(change: str, time: Annotated[Time, TIME]) -> Time:
    nanoseconds = _nanoseconds(change)
    if nanoseconds is None:
        raise FunctionError("invalid duration")
    return time.add(nanoseconds)


def ago(context: Context, value: Value) -> str:
    current = now_of(context.now)
    if isinstance(value, Time):
        time = value
    else:
        time = Time(int(value)) if type(value) in {int, Int64} and isinstance(value, int) else current
    nanoseconds = current.since(time)
    seconds = (abs(nanoseconds) + SECOND // 2) // SECOND  # halves away from zero
    return format_nanoseconds(seconds * SECOND if nanoseconds >= 0 else -seconds * SECOND)


def duration(value: Value) -> str:
    """The duration of a number of seconds, a text or int64; anything else is 0."""
    seconds = 0
    if isinstance(value, str):
        seconds = clamped(parse_int(value, 10) or 0)
    elif isinstance(value, Int64):
        seconds = value
    return format_nanoseconds(wrapped(seconds * SECOND))


def duration_round(context: Context, value: Value) -> str:
    """The duration in its largest unit that is exceeded, such as `2h` or `3mo`."""
    length = 0
    if isinstance(value, str):
        length = _nanoseconds(value) or 0
    elif isinstance(value, Int64):
        length = value
    elif isinstance(value, Time):
        length = now_of(context.now).since(value)
    length = abs(length)
    return next((f"{length // size}{unit}" for unit, size in _UNITS if length > size), "0s")


def to_date(context: Context, layout: str, text: str) -> Time:
    """Parse a date; malformed text becomes Go's zero time."""
    return parse_time(layout, text, local_zone(context.now)) or Time()


def must_to_date(context: Context, layout: str, text: str) -> Time:
    time = parse_time(layout, text, local_zone(context.now))
    if time is None:
        raise FunctionError("the text is not a date in this layout")
    return time


def unix_epoch(time: Annotated[Time, TIME]) -> str:
    return str(time.second)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "ago": ago,
        "date": date,
        "dateInZone": date_in_zone,
        "dateModify": date_modify,
        "date_in_zone": date_in_zone,
        "date_modify": date_modify,
        "duration": duration,
        "durationRound": duration_round,
        "htmlDate": html_date,
        "htmlDateInZone": html_date_in_zone,
        "mustDateModify": must_date_modify,
        "mustToDate": must_to_date,
        "must_date_modify": must_date_modify,
        "now": now,
        "toDate": to_date,
        "unixEpoch": unix_epoch,
    }
)
