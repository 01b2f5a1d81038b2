"""A heap of due times, the earliest of each name; an idle object costs one entry here and nothing else."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final

import msgspec

from syncret.config.meta import ObjectRef


class _Entry(msgspec.Struct, frozen=True, order=True, gc=False):
    """When, whose, and the lane. Names break ties, so that the order of equal times is always the same.

    A third smaller than a tuple, and the garbage collector never looks at it.
    """

    due: float
    ref: ObjectRef
    lane: str


SLACK: Final = 64


class DelayQueue:
    """Due times by name. A dropped entry stays in the heap until it surfaces or makes up half of it."""

    __slots__ = ("_entries", "_heap")

    def __init__(self) -> None:
        self._entries: dict[ObjectRef, _Entry] = {}
        self._heap: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def due(self) -> float | None:
        """The earliest due time."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._entries.get(entry.ref) is entry:
                return entry.due
            heappop(heap)
        return None

    def get(self, ref: ObjectRef) -> float | None:
        """When this name is due."""
        entry = self._entries.get(ref)
        return None if entry is None else entry.due

    def add(self, ref: ObjectRef, due: float, lane: str) -> bool:
        """Keep the earlier time. Whether this one is it."""
        known = self._entries.get(ref)
        if known is not None:
            if known.due <= due:
                return False
            ref = known.ref
        entry = _Entry(due, ref, lane)
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
            entry = heappop(self._heap)
            del self._entries[entry.ref]
            yield entry.ref, due, entry.lane

    def _compact(self) -> None:
        if len(self._heap) > 2 * len(self._entries) + SLACK:
            self._heap = list(self._entries.values())
            heapify(self._heap)
