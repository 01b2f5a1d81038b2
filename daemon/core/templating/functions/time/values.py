"""Go's Duration, Month, Weekday and Location, with their methods."""

from dataclasses import dataclass
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from syncret.config.durations import format_nanoseconds
from syncret.daemon.core.templating.functions.contract import bound, methods
from syncret.daemon.core.templating.functions.time.instants import SECOND, Zone
from syncret.daemon.core.templating.functions.time.layouts import DAYS, MONTHS
from syncret.daemon.core.templating.golang.types import Kind, Type
from syncret.daemon.core.templating.golang.values import GoObject, Int64, NamedInteger, Value

DURATION: Final = Type("time.Duration", Kind.INT64)
LOCATION: Final = Type("*time.Location", Kind.POINTER)
_MINUTE: Final = 60 * SECOND
_HOUR: Final = 60 * _MINUTE


class Duration(NamedInteger):
    """A number of nanoseconds that prints as `1h30m0s`."""

    __slots__ = ()
    go_type = DURATION

    def text(self) -> str:
        return format_nanoseconds(self)

    def member(self, name: str) -> Value:
        return bound(_DURATION_METHODS, name, self)


class Month(NamedInteger):
    """A month; January is 1."""

    __slots__ = ()
    go_type = Type("time.Month", Kind.INT)

    def text(self) -> str:
        return MONTHS[self - 1]

    def member(self, name: str) -> Value:
        return bound(_NAME_METHODS, name, self)


class Weekday(NamedInteger):
    """A day of the week; Sunday is 0."""

    __slots__ = ()
    go_type = Type("time.Weekday", Kind.INT)

    def text(self) -> str:
        return DAYS[self - 1]

    def member(self, name: str) -> Value:
        return bound(_NAME_METHODS, name, self)


@dataclass(frozen=True)
class Location(GoObject):
    """The zone of a time."""

    zone: Zone

    go_type = LOCATION

    def text(self) -> str:
        rules = self.zone.rules
        return self.zone.name if rules is None else rules.key if isinstance(rules, ZoneInfo) else "Local"

    def member(self, name: str) -> Value:
        return bound(_LOCATION_METHODS, name, self)


_Duration = Annotated[int, DURATION]
_Location = Annotated[Location, LOCATION]


def _text_of(value: Value) -> str:
    return value.text() if isinstance(value, NamedInteger) else ""


def _zone_name(location: _Location) -> str:
    return location.text()


def _hours(length: _Duration) -> float:
    return length / _HOUR


def _minutes(length: _Duration) -> float:
    return length / _MINUTE


def _seconds(length: _Duration) -> float:
    return length / SECOND


def _milliseconds(length: _Duration) -> Int64:
    return Int64(_towards_zero(length, 1_000_000))


def _microseconds(length: _Duration) -> Int64:
    return Int64(_towards_zero(length, 1000))


def _nanoseconds(length: _Duration) -> Int64:
    return Int64(length)


def _towards_zero(length: int, unit: int) -> int:
    return length // unit if length >= 0 else -(-length // unit)


def _absolute(length: _Duration) -> Duration:
    return Duration(min(abs(length), (1 << 63) - 1))


def _truncated(length: _Duration, unit: _Duration) -> Duration:
    return Duration(_towards_zero(length, unit) * unit if unit > 0 else length)


def _rounded(length: _Duration, unit: _Duration) -> Duration:
    """Round to a multiple; halves are rounded away from zero, an overflow gives the longest duration."""
    if unit <= 0:
        return Duration(length)
    whole = (abs(length) + unit // 2 + unit % 2) // unit * unit if unit > 1 else abs(length)
    return Duration(max(-(1 << 63), min(whole if length >= 0 else -whole, (1 << 63) - 1)))


_DURATION_METHODS: Final = methods(
    {
        "Abs": _absolute,
        "Hours": _hours,
        "Microseconds": _microseconds,
        "Milliseconds": _milliseconds,
        "Minutes": _minutes,
        "Nanoseconds": _nanoseconds,
        "Round": _rounded,
        "Seconds": _seconds,
        "String": _text_of,
        "Truncate": _truncated,
    }
)
_NAME_METHODS: Final = methods({"String": _text_of})
_LOCATION_METHODS: Final = methods({"String": _zone_name})
