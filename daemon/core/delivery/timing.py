"""When a delivery is due: after a quiet time, not too often, and within the start limit of its unit."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

_KEPT_FREE: Final = 2
"""Restarts of a start limit that are left free: one for a rollback, one for the administrator."""


class Debounce(Struct, frozen=True):
    """Seconds for which nothing may have changed, and for which the first change waits at most."""

    quiet: float = 2
    at_most: float = 30


def together(each: Iterable[Debounce]) -> Debounce:
    """The debounce of Deliveries that reload one unit: the longest `quiet`, up to the shortest `at_most`."""
    known = list(each)
    at_most = min(one.at_most for one in known)
    return Debounce(min(max(one.quiet for one in known), at_most), at_most)


def due(debounce: Debounce, *, first: float, last: float, not_before: float = 0) -> float:
    """When changes are delivered, given the times of the first and the last."""
    return max(min(last + debounce.quiet, first + debounce.at_most), not_before)


class StartLimit(Struct, frozen=True):
    """StartLimitIntervalUSec= (in seconds) and StartLimitBurst= of a unit."""

    interval: float
    burst: int


def restart_allowed_at(limit: StartLimit, restarts: Sequence[float], now: float) -> float:
    """When the next restart may be requested, after those at these times, within the start limit."""
    if limit.interval <= 0 or limit.burst <= 0:
        return now
    most = max(limit.burst - _KEPT_FREE, 1)
    recent = sorted(time for time in restarts if time > now - limit.interval)
    return now if len(recent) < most else recent[-most] + limit.interval
