"""Go's time.Time: an instant and its time zone."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from syncret.daemon.core.templating.functions.contract import bound
from syncret.daemon.core.templating.golang.types import Kind, Type
from syncret.daemon.core.templating.golang.values import GoObject, Value

TIME: Final = Type("time.Time", Kind.STRUCT)

SECOND: Final = 1_000_000_000
_DAY: Final = 86_400
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 (naive on purpose: civil time of any zone)
_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097
_CYCLE: Final = _CYCLE_DAYS * _DAY
_SPAN: Final = range(-62_135_596_800 + _DAY, 253_402_300_799 - _DAY)
"""The seconds that Python's datetime reaches, and a day less."""

ZERO: Final = -62_135_596_800
"""Go's zero time: the year 1."""

_ABSOLUTE_ZERO: Final = ZERO - (292_277_022_400 // _CYCLE_YEARS * _CYCLE_DAYS + 306) * _DAY
"""Where Go begins to count the days of a date; what lies before comes round to the far future."""


@dataclass(frozen=True)
class Zone:
    """A time zone: by Python's zone data, or a fixed offset with a name, which may be empty."""

    rules: tzinfo | None = None
    offset: int = 0
    name: str = "UTC"

    def at(self, second: int) -> tuple[str, int]:
        """Abbreviation and offset in seconds at an instant."""
        if self.rules is None:
            return self.name, self.offset
        local = self._local(second, self.rules)
        offset = local.utcoffset() or timedelta()
        return local.tzname() or "", int(offset.total_seconds())

    def is_dst(self, second: int) -> bool:
        """Whether daylight saving time is in effect at an instant."""
        return self.rules is not None and bool(self._local(second, self.rules).dst())

    def _local(self, second: int, rules: tzinfo) -> datetime:
        # Python's years end at 9999: later ones have the rules of the same year of an earlier 400-year cycle.
        if second not in _SPAN:
            second = second % _CYCLE + _CYCLE if second > 0 else _SPAN[0]
        moment = datetime.fromtimestamp(0, timezone.utc) + timedelta(seconds=second)  # noqa: UP017
        return moment.astimezone(rules)


UTC: Final = Zone()


@lru_cache(maxsize=256)
def load_zone(name: str) -> Zone:
    """The zone of that name; UTC if it is unknown."""
    if name in {"", "UTC"}:
        return UTC
    try:
        return Zone(ZoneInfo(name))
    except (ValueError, OSError, LookupError):
        return UTC


def local_zone(now: datetime) -> Zone:
    """The local zone of the process, which is that of the context's time."""
    rules = now.tzinfo
    if rules is None or rules is timezone.utc:  # noqa: UP017 (the same object under its older name)
        return UTC
    return Zone(rules)


def _days_of(year: int, month: int, day: int) -> int:
    cycles, year_in_cycle = divmod(year - 1, _CYCLE_YEARS)
    civil = datetime(year_in_cycle + 1, month, 1)  # noqa: DTZ001 (civil time)
    return (civil - _EPOCH).days + day - 1 + cycles * _CYCLE_DAYS


def seconds_of(date: tuple[int, int, int], clock: tuple[int, int, int]) -> int:
    """The seconds since 1970 of a civil date and time, without a zone; days and hours may overflow."""
    year, month, day = date
    extra_years, month = divmod(month - 1, 12)
    hour, minute, second = clock
    return _days_of(year + extra_years, month + 1, day) * _DAY + hour * 3600 + minute * 60 + second


@dataclass(frozen=True)
class Time(GoObject):
    """An instant: seconds since 1970 and nanoseconds; `monotonic` marks a result of `now`."""

    second: int = ZERO
    nano: int = 0
    zone: Zone = UTC
    monotonic: bool = False

    go_type = TIME

    @property
    def civil(self) -> tuple[int, datetime]:
        """The year, and the local date and time in a year that Python supports."""
        second = self.second + self.zone.at(self.second)[1]
        second = (second - _ABSOLUTE_ZERO) % (1 << 64) + _ABSOLUTE_ZERO
        cycles, within = divmod(second - ZERO, _CYCLE)
        moment = datetime(1, 1, 1) + timedelta(seconds=within)  # noqa: DTZ001 (civil time)
        return moment.year + cycles * _CYCLE_YEARS, moment

    def add(self, nanoseconds: int) -> "Time":
        total = self.nano + nanoseconds
        return replace(self, second=self.second + total // SECOND, nano=total % SECOND)

    def since(self, other: "Time") -> int:
        """Nanoseconds from the other to this time, limited to the range of a duration."""
        difference = (self.second - other.second) * SECOND + self.nano - other.nano
        return max(-(1 << 63), min(difference, (1 << 63) - 1))

    def text(self) -> str:
        from syncret.daemon.core.templating.functions.time.layouts import format_time

        written = format_time(self, "2006-01-02 15:04:05.999999999 -0700 MST")
        return f"{written} m=+0.000000000" if self.monotonic else written

    def __eq__(self, other: object) -> bool:
        """Compare as Go's `==` does: the same instant in another zone is another value."""
        return isinstance(other, Time) and (self.second, self.nano, self.zone) == (
            other.second,
            other.nano,
            other.zone,
        )

    def __hash__(self) -> int:
        return hash((self.second, self.nano))

    def member(self, name: str) -> Value:
        from syncret.daemon.core.templating.functions.time.methods import METHODS

        return bound(METHODS, name, self)


def instant_of(second: int, zone: Zone) -> int:
    """The instant of a civil time; in an hour that daylight saving skips or repeats, one of the two."""
    guess = second - zone.at(second)[1]
    return second - zone.at(guess)[1]


def now_of(now: datetime) -> Time:
    """The current time of a context."""
    since = now - datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017
    seconds = since // timedelta(seconds=1)
    return Time(seconds, now.microsecond * 1000, local_zone(now), monotonic=True)
