"""Sync windows: when a refresh that only time asks for may happen.

A window opens at each firing of its schedule (UTC) and stays open for its duration, both ends included, in
whole seconds. A schedule that cannot be read opens nothing: a typo must not stop all syncs.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from syncret.daemon.core.cron import Cron, CronError, Schedule, parse, utc

_SECOND: Final = timedelta(seconds=1)
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
