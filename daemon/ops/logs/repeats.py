"""Keeps a repeated message from flooding the log: logged once, then at a doubling distance with its count."""

import re
import time
from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct

FIRST: Final = 60.0
"""Seconds after which a message is logged a second time; the distance doubles from there."""

LONGEST: Final = 3600.0
"""The longest distance in seconds."""

MOST: Final = 50_000
"""Subjects that are remembered; above that the one that began first is forgotten, and logged as new."""

VARIANTS: Final = 8
"""Different messages of one subject that are counted separately; all others count as one."""

_NUMBERS: Final = re.compile(r"\d+")


class _Series(Struct):
    distance: float
    next_at: float
    count: int = 1


class Repeats:
    """Counts messages by subject, such as an object, and text. Numbers in a text make no difference.

    `over` ends a subject's series: what occurs after that is new. A message that nothing ends is logged
    again at each occurrence once its occurrences are further apart than the distance.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._subjects: dict[Hashable, dict[str, _Series]] = {}

    def occurred(self, subject: Hashable, text: str) -> int:
        """How often the message has occurred in this series, if it is to be logged now; otherwise 0."""
        now = self._now()
        variants = self._subjects.setdefault(subject, {})
        variant = _NUMBERS.sub("0", text)
        if variant not in variants and len(variants) >= VARIANTS:
            variant = ""
        series = variants.get(variant)
        if series is None:
            variants[variant] = _Series(FIRST, now + FIRST)
            if len(self._subjects) > MOST:
                del self._subjects[next(iter(self._subjects))]
            return 1
        series.count += 1
        if now < series.next_at:
            return 0
        series.distance = min(LONGEST, 2 * series.distance)
        series.next_at = now + series.distance
        return series.count

    def over(self, subject: Hashable) -> int:
        """End the series of a subject. Returns how many messages it had, logged or not."""
        return sum(series.count for series in self._subjects.pop(subject, {}).values())

    def clear(self) -> None:
        """End all series."""
        self._subjects.clear()


def counted(times: int) -> dict[str, int]:
    """The field of a log line that says how often its message has occurred; none for the first time."""
    return {"times": times} if times > 1 else {}
