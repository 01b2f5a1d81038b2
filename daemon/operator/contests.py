"""Objects that another writer changes again and again: they are repaired less often. Pure."""

from collections import deque
from typing import Final

from syncret.config.meta import ObjectRef

WINDOW: Final = 300.0
"""Seconds in which repairs are counted."""

PAUSE: Final = 600.0
"""Seconds without a repair of what is contested."""


class Contests:
    """Counts the repairs of each object."""

    def __init__(self, most: int) -> None:
        """More than `most` repairs within the window are a contest."""
        self._most = most
        self._repairs: dict[tuple[ObjectRef, str], deque[float]] = {}
        self._until: dict[ObjectRef, float] = {}

    def repaired(self, ref: ObjectRef, other: str, now: float) -> bool:
        """Count a repair of what `other` had changed; whether a contest begins with it."""
        times = self._repairs.setdefault((ref, other), deque())
        times.append(now)
        while times[0] <= now - WINDOW:
            times.popleft()
        if len(times) <= self._most:
            return False
        times.clear()
        self._until[ref] = now + PAUSE
        return True

    def waits(self, ref: ObjectRef, now: float) -> float:
        """The seconds for which the object is not repaired; 0: it is."""
        return max(0.0, self._until.get(ref, 0.0) - now)
