"""Methods of times in templates: `(now).Weekday`, `now.AddDate 0 0 7`, `$end.Sub $start`."""

from dataclasses import replace
from typing import Annotated, Final

from syncret.daemon.core.templating.functions.contract import Context, methods
from syncret.daemon.core.templating.functions.time.instants import (
    SECOND,
    TIME,
    UTC,
    ZERO,
    Time,
    instant_of,
    local_zone,
    seconds_of,
)
from syncret.daemon.core.templating.functions.time.layouts import format_time
from syncret.daemon.core.templating.functions.time.values import (
    DURATION,
    LOCATION,
    Duration,
    Location,
    Month,
    Weekday,
)
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import Int64, wrapped

_Time = Annotated[Time, TIME]
_Duration = Annotated[int, DURATION]
_Location = Annotated[Location, LOCATION]


def _instant(time: Time) -> tuple[int, int]:
    return time.second, time.nano


def _year(time: _Time) -> int:
    return wrapped(time.civil[0])


def _month(time: _Time) -> Month:
    return Month(time.civil[1].month)


def _day(time: _Time) -> int:
    return time.civil[1].day


def _year_day(time: _Time) -> int:
    return time.civil[1].timetuple().tm_yday


def _weekday(time: _Time) -> Weekday:
    return Weekday(time.civil[1].isoweekday() % 7)


def _hour(time: _Time) -> int:
    return time.civil[1].hour


def _minute(time: _Time) -> int:
    return time.civil[1].minute


def _second(time: _Time) -> int:
    return time.civil[1].second


def _nanosecond(time: _Time) -> int:
    return time.nano


def _unix(time: _Time) -> Int64:
    return Int64(time.second)


def _unix_milli(time: _Time) -> Int64:
    return Int64(time.second * 1000 + time.nano // 1_000_000)


def _unix_micro(time: _Time) -> Int64:
    return Int64(time.second * 1_000_000 + time.nano // 1000)


def _unix_nano(time: _Time) -> Int64:
    return Int64(time.second * SECOND + time.nano)


def _format(time: _Time, layout: str) -> str:
    return format_time(time, layout)


def _string(time: _Time) -> str:
    return time.text()


def _is_zero(time: _Time) -> bool:
    return _instant(time) == (ZERO, 0)


def _is_dst(time: _Time) -> bool:
    return time.zone.is_dst(time.second)


def _utc(time: _Time) -> Time:
    return replace(time, zone=UTC)


def _local(context: Context, time: _Time) -> Time:
    return replace(time, zone=local_zone(context.now))


def _in(time: _Time, location: Annotated[Location | None, LOCATION]) -> Time:
    if location is None:
        raise FunctionError("nil is no location")
    return replace(time, zone=location.zone)


def _location(time: _Time) -> Location:
    return Location(time.zone)


def _add(time: _Time, length: _Duration) -> Time:
    return time.add(length)


def _add_date(time: _Time, years: int, months: int, days: int) -> Time:
    """Add years, months and days; a day that the month does not have continues in the next month."""
    year, moment = time.civil
    date = (year + years, moment.month + months, moment.day + days)
    second = seconds_of(date, (moment.hour, moment.minute, moment.second))
    return replace(time, second=wrapped(instant_of(second, time.zone)), monotonic=False)


def _sub(time: _Time, other: _Time) -> Duration:
    return Duration(time.since(other))


def _rest(time: Time, length: int) -> int:
    return ((time.second - ZERO) * SECOND + time.nano) % length


def _truncate(time: _Time, length: _Duration) -> Time:
    time = replace(time, monotonic=False)
    return time.add(-_rest(time, length)) if length > 0 else time


def _round(time: _Time, length: _Duration) -> Time:
    """Round to a multiple of the duration; halves are rounded up."""
    time = replace(time, monotonic=False)
    if length <= 0:
        return time
    rest = _rest(time, length)
    return time.add(-rest if 2 * rest < length else length - rest)


def _before(time: _Time, other: _Time) -> bool:
    return _instant(time) < _instant(other)


def _after(time: _Time, other: _Time) -> bool:
    return _instant(time) > _instant(other)


def _equal(time: _Time, other: _Time) -> bool:
    return _instant(time) == _instant(other)


def _compare(time: _Time, other: _Time) -> int:
    return (_instant(time) > _instant(other)) - (_instant(time) < _instant(other))


METHODS: Final = methods(
    {
        "Add": _add,
        "AddDate": _add_date,
        "After": _after,
        "Before": _before,
        "Compare": _compare,
        "Day": _day,
        "Equal": _equal,
        "Format": _format,
        "Hour": _hour,
        "In": _in,
        "IsDST": _is_dst,
        "IsZero": _is_zero,
        "Local": _local,
        "Location": _location,
        "Minute": _minute,
        "Month": _month,
        "Nanosecond": _nanosecond,
        "Round": _round,
        "Second": _second,
        "String": _string,
        "Sub": _sub,
        "Truncate": _truncate,
        "UTC": _utc,
        "Unix": _unix,
        "UnixMicro": _unix_micro,
        "UnixMilli": _unix_milli,
        "UnixNano": _unix_nano,
        "Weekday": _weekday,
        "Year": _year,
        "YearDay": _year_day,
    }
)
