"""Sync windows: when an ExternalSecret may be refreshed only because its interval has passed.

A window opens at each firing of its schedule and stays open for its duration, both ends included, in whole
seconds. A schedule is a cron expression as `robfig/cron` v3 reads it (five fields or a descriptor, UTC). One
that cannot be read opens nothing: a typo must not stop all syncs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from syncret.config.durations import DurationError, parse_duration


class CronError(ValueError):
    """The text is not a cron expression."""


class _Bounds(NamedTuple):
    least: int
    greatest: int
    names: dict[str, int]


def _numbered(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


_MINUTE: Final = _Bounds(0, 59, {})
_HOUR: Final = _Bounds(0, 23, {})
_DAY: Final = _Bounds(1, 31, {})
_MONTH: Final = _Bounds(1, 12, _numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1))
_WEEKDAY: Final = _Bounds(0, 6, _numbered("sun mon tue wed thu fri sat", 0))
_FIELDS: Final = (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY)

_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY: Final = "@every "
_NUMBER: Final = re.compile(r"\+?[0-9]{1,9}")
_RANGE_ENDS: Final = 2
_HORIZON: Final = timedelta(days=5 * 366)
_SECOND: Final = timedelta(seconds=1)
_DAY_LONG: Final = timedelta(days=1)


class _Field(NamedTuple):
    """The values of one field, and whether it was written as `*`."""

    values: frozenset[int]
    star: bool


class Cron(NamedTuple):
    """Five fields."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    day: _Field
    month: _Field
    weekday: _Field

    def next(self, after: datetime) -> datetime | None:
        """The first firing later than `after`; None if there is none within five years."""
        start = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
        date = start.replace(hour=0, minute=0)
        while date <= start + _HORIZON:
            if date.month in self.month.values:
                for hour in self.hours if self._fires_on(date) else ():
                    for minute in self.minutes:
                        moment = date.replace(hour=hour, minute=minute)
                        if moment >= start:
                            return moment
                date += _DAY_LONG
            else:
                date = _next_month(date)
        return None

    def _fires_on(self, date: datetime) -> bool:
        """On a day of a month that is right. Where day and weekday are both restricted, either will do."""
        by_day = date.day in self.day.values
        by_weekday = date.isoweekday() % 7 in self.weekday.values
        return by_day and by_weekday if self.day.star or self.weekday.star else by_day or by_weekday


def _next_month(date: datetime) -> datetime:
    """The first day of the next month."""
    return (date.replace(day=28) + 4 * _DAY_LONG).replace(day=1)


class Every(NamedTuple):
    """A delay, counted from whenever it is asked."""

    delay: timedelta

    def next(self, after: datetime) -> datetime:
        """The delay after `after`, on a whole second."""
        return after.replace(microsecond=0) + self.delay


Schedule: TypeAlias = Cron | Every


def parse(text: str) -> Schedule:
    """The schedule that an expression describes. Raises CronError."""
    if text.startswith(_EVERY):
        return _every(text.removeprefix(_EVERY))
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise CronError(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise CronError(f"expected exactly {len(_FIELDS)} fields, found {len(parts)}: {text}")
    minutes, hours, day, month, weekday = (
        _field(part, bounds) for part, bounds in zip(parts, _FIELDS, strict=True)
    )
    return Cron(tuple(sorted(minutes.values)), tuple(sorted(hours.values)), day, month, weekday)


def _every(text: str) -> Every:
    try:
        delay = timedelta(seconds=int(parse_duration(text)))
    except DurationError as error:
        raise CronError(f"failed to parse duration {_EVERY}{text}: {error}") from error
    return Every(max(delay, _SECOND))


def _field(text: str, bounds: _Bounds) -> _Field:
    values: set[int] = set()
    star = False
    for part in filter(None, text.split(",")):
        numbers, starred = _part(part, bounds)
        values.update(numbers)
        star = star or starred
    return _Field(frozenset(values), star)


def _part(text: str, bounds: _Bounds) -> tuple[range, bool]:
    """One range of a field: `*`, `5`, `1-5`, and any of these with `/step`; `5/2` runs to the end."""
    span, slash, stride = text.partition("/")
    ends = span.split("-")
    step = _number(stride) if slash else 1
    if step == 0:
        raise CronError(f"step of range should be a positive number: {text}")
    if ends[0] in {"*", "?"}:
        return range(bounds.least, bounds.greatest + 1, step), step == 1
    first = _value(ends[0], bounds)
    if len(ends) > _RANGE_ENDS:
        raise CronError(f"too many hyphens: {text}")
    open_end = bounds.greatest if slash else first
    last = _value(ends[1], bounds) if len(ends) == _RANGE_ENDS else open_end
    if not bounds.least <= first <= last <= bounds.greatest:
        raise CronError(f"range outside of {bounds.least} to {bounds.greatest}, or backwards: {text}")
    return range(first, last + 1, step), False


def _value(text: str, bounds: _Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _number(text) if named is None else named


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise CronError(f"failed to parse number: {text}")
    return int(text)


def utc(seconds: float) -> datetime:
    """Epoch seconds as the schedules here take them."""
    return datetime.fromtimestamp(seconds, UTC)


_STEPS: Final = 100
"""How many windows, one running into the next, are looked through for a gap."""


class Window(NamedTuple):
    """A cron expression, and for how many seconds the window stays open."""

    schedule: str
    duration: float


def allowed(kind: str, windows: Sequence[Window], at: float) -> bool:
    """Whether a refresh may happen: inside a window of kind `allow`, outside of all of kind `deny`."""
    if not windows or kind not in {"allow", "deny"}:
        return True
    moment = utc(int(at))
    is_open = any(_opened(schedule, length, moment) for schedule, length in _readable(windows))
    return is_open == (kind == "allow")


def next_allowed(kind: str, windows: Sequence[Window], at: float) -> float | None:
    """The first time from `at` on at which a refresh may happen, or may be looked for again; None: never."""
    if allowed(kind, windows, at):
        return at
    moment = utc(int(at))
    readable = list(_readable(windows))
    if kind == "deny":
        return _gap(readable, moment).timestamp()
    # `@every` counts from whenever it is asked: its window is always open, or never.
    firings = [schedule.next(moment) for schedule, _ in readable if isinstance(schedule, Cron)]
    return min((firing.timestamp() for firing in firings if firing is not None), default=None)


def _gap(windows: Iterable[tuple[Schedule, timedelta]], moment: datetime) -> datetime:
    for _ in range(_STEPS):
        opened = [
            (found, length) for schedule, length in windows if (found := _opened(schedule, length, moment))
        ]
        if not opened:
            break
        moment = max(start + length for start, length in opened) + _SECOND
    return moment


def _opened(schedule: Schedule, length: timedelta, moment: datetime) -> datetime | None:
    """When the window that is open at the moment was opened; None where none is."""
    firing = schedule.next(moment - length - _SECOND)
    return firing if firing is not None and firing <= moment <= firing + length else None


def _readable(windows: Iterable[Window]) -> Iterator[tuple[Schedule, timedelta]]:
    for window in windows:
        try:
            yield parse(window.schedule), timedelta(seconds=window.duration)
        except CronError:
            continue  # as documented above: it opens nothing
