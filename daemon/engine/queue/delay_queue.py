"""A heap of due times, the earliest of each name; an idle object costs one entry here and nothing else."""

import asyncio
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import Final

import msgspec

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.fair_queue import Lanes


class _Entry(msgspec.Struct, frozen=True, order=True, gc=False):
    """When, whose, and the lanes. Names break ties, so that the order of equal times is always the same.

    A third smaller than a tuple, and the garbage collector never looks at it.
    """

    due: float
    ref: ObjectRef
    lanes: Lanes


SLACK: Final = 64

POP_AT_ONCE: Final = 2000
"""Names handed over in one turn of the loop; more would hold up everything else."""


class DelayQueue:
    """Due times by name, on the wall clock. One timer of the loop serves all of them.

    A dropped entry stays in the heap until it surfaces or makes up half of it.

    Args:
        on_due: called with what is due, since when in the loop's time, and its lanes.
        after: called when all of a turn was handed over.
    """

    def __init__(
        self, clock: Clock, on_due: Callable[[ObjectRef, float, Lanes], None], after: Callable[[], None]
    ) -> None:
        self._clock = clock
        self._on_due = on_due
        self._after = after
        self._loop = asyncio.get_running_loop()
        self._entries: dict[ObjectRef, _Entry] = {}
        self._heap: list[_Entry] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._jumped = -inf
        self._closed = False
        self.has_more = False
        """Whether the last turn left over what was due too."""
        clock.on_jump(self._on_jump)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def earliest(self) -> float:
        """The earliest due time in the loop's time; infinity if there is none."""
        due = self._due()
        return inf if due is None else self._clock.loop_time(due)

    def get(self, ref: ObjectRef) -> float | None:
        """When this name is due."""
        entry = self._entries.get(ref)
        return None if entry is None else entry.due

    def add(self, ref: ObjectRef, due: float, lanes: Lanes) -> None:
        """Hand it over at this moment of the wall clock, or at an earlier one already asked for."""
        known = self._entries.get(ref)
        if known is not None:
            if known.due <= due:
                return
            ref = known.ref
        entry = _Entry(due, ref, lanes)
        self._entries[ref] = entry
        heappush(self._heap, entry)
        self._compact()
        self._arm()

    def discard(self, ref: ObjectRef) -> None:
        """Forget the time of this name."""
        if self._entries.pop(ref, None) is not None:
            self._compact()

    def close(self) -> None:
        """Hand over no more."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.cancel()

    def _due(self) -> float | None:
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._entries.get(entry.ref) is entry:
                return entry.due
            heappop(heap)
        return None

    def _compact(self) -> None:
        if len(self._heap) > 2 * len(self._entries) + SLACK:
            self._heap = list(self._entries.values())
            heapify(self._heap)

    def _on_jump(self, _: float) -> None:
        self._jumped = self._loop.time()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._arm()

    def _arm(self) -> None:
        if self._closed or not self._heap:
            return
        when = max(self.earliest, self._loop.time())
        if self._alarm is not None:
            if self._alarm.when() <= when:
                return
            self._alarm.cancel()
        self._alarm = self._loop.call_at(when, self._ring) if when < inf else None

    def _ring(self) -> None:
        """Hand over due items, the earliest first; those made due by a clock jump are due since then."""
        self._alarm = None
        now = self._clock.now()
        for _ in range(POP_AT_ONCE):
            due = self._due()
            self.has_more = due is not None and due <= now
            if not self.has_more:
                break
            entry = heappop(self._heap)
            del self._entries[entry.ref]
            since = max(self._jumped, self._clock.loop_time(entry.due))
            self._on_due(entry.ref, since, entry.lanes)
        self._after()
        self._arm()
