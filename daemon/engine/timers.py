"""A heap of due times, the earliest of each name; an idle object costs one entry here and nothing else."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from syncret.config.meta import ObjectRef

Entry: TypeAlias = tuple[float, ObjectRef, str]
"""When, whose, and the lane. Names break ties, so that the order of equal times is always the same."""

SLACK: Final = 64


class Timers:
    """Due times by name. A dropped entry stays in the heap until it surfaces or makes up half of it."""

    __slots__ = ("_entries", "_heap")

    def __init__(self) -> None:
        self._entries: dict[ObjectRef, Entry] = {}
        self._heap: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def due(self) -> float | None:
        """The earliest due time."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._entries.get(entry[1]) is entry:
                return entry[0]
            heappop(heap)
        return None

    def get(self, ref: ObjectRef) -> float | None:
        """When this name is due."""
        entry = self._entries.get(ref)
        return None if entry is None else entry[0]

    def add(self, ref: ObjectRef, due: float, lane: str) -> bool:
        """Keep the earlier time. Whether this one is it."""
        known = self._entries.get(ref)
        if known is not None:
            if known[0] <= due:
                return False
            ref = known[1]
        entry = (due, ref, lane)
        self._entries[ref] = entry
        heappush(self._heap, entry)
        self._compact()
        return True

    def discard(self, ref: ObjectRef) -> None:
        """Forget the time of this name."""
        if self._entries.pop(ref, None) is not None:
            self._compact()

    def pop(self, now: float, limit: int) -> Iterator[tuple[ObjectRef, float, str]]:
        """Take out what is due, earliest first, at most `limit` of them."""
        for _ in range(limit):
            due = self.due
            if due is None or due > now:
                return
            _, ref, lane = heappop(self._heap)
            del self._entries[ref]
            yield ref, due, lane

    def _compact(self) -> None:
        if len(self._heap) > 2 * len(self._entries) + SLACK:
            self._heap = list(self._entries.values())
            heapify(self._heap)
