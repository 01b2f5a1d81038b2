"""Gives out ready names fairly: urgent before periodic, lanes in turn, no lane more than its cap at once."""

from typing import Final

from syncret.config.meta import ObjectRef

PERIODIC_SHARE: Final = 16
"""Where both wait, every sixteenth turn belongs to the periodic ones: slower, but never stopped."""


class _Lane:
    """Ready names of one store, since when they wait, and how many of its names are running."""

    __slots__ = ("name", "ready", "running")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: tuple[dict[ObjectRef, float], dict[ObjectRef, float]] = ({}, {})
        self.running = 0


class FairQueue:
    """Ready names by urgency (0: urgent, 1: periodic) and lane.

    `_turns` holds, for each urgency, the lanes that have such names and room to run them, in order of their
    turns.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._lanes: dict[str, _Lane] = {}
        self._turns: tuple[dict[str, _Lane], dict[str, _Lane]] = ({}, {})
        self._where: dict[ObjectRef, tuple[_Lane, int]] = {}
        self._in_a_row = 0
        self.urgent = 0

    @property
    def size(self) -> int:
        return len(self._where)

    @property
    def open(self) -> bool:
        """Whether `take` would give one."""
        return bool(self._turns[0] or self._turns[1])

    @property
    def oldest(self) -> float | None:
        """Since when the longest waiting name waits."""
        heads = (next(iter(ready.values())) for lane in self._lanes.values() for ready in lane.ready if ready)
        return min(heads, default=None)

    def add(self, ref: ObjectRef, since: float, *, urgent: bool, lane: str) -> None:
        """Make ready. A name that is ready keeps its place, unless it becomes urgent or changes lanes."""
        level = 0 if urgent else 1
        known = self._where.get(ref)
        if known is not None:
            was, was_level = known
            level = min(level, was_level)
            if was.name == lane and level == was_level:
                return
            since = min(since, was.ready[was_level][ref])
            self.discard(ref)
        entry = self._lanes.get(lane)
        if entry is None:
            entry = self._lanes[lane] = _Lane(lane)
        entry.ready[level][ref] = since
        self._where[ref] = (entry, level)
        self.urgent += level == 0
        if entry.running < self._cap:
            self._turns[level].setdefault(lane, entry)

    def discard(self, ref: ObjectRef) -> None:
        """Make unready."""
        known = self._where.pop(ref, None)
        if known is not None:
            lane, level = known
            del lane.ready[level][ref]
            self.urgent -= level == 0
            if not lane.ready[level]:
                self._turns[level].pop(lane.name, None)
            self._sweep(lane)

    def pop(self) -> tuple[ObjectRef, float, str] | None:
        """The next name that may run, since when it waited, and its lane; `leave` must follow."""
        level = self._level()
        turns = self._turns[level]
        if not turns:
            return None
        lane = turns.pop(next(iter(turns)))
        ref, since = next(iter(lane.ready[level].items()))
        lane.running += 1
        self.discard(ref)
        if lane.running >= self._cap:
            for each in self._turns:
                each.pop(lane.name, None)
        elif lane.ready[level]:
            turns[lane.name] = lane
        return ref, since, lane.name

    def release(self, name: str) -> None:
        """One of this lane's names has stopped running."""
        lane = self._lanes[name]
        lane.running -= 1
        for level, ready in enumerate(lane.ready):
            if ready:
                self._turns[level].setdefault(name, lane)
        self._sweep(lane)

    def _level(self) -> int:
        urgent, periodic = self._turns
        if not periodic or (urgent and self._in_a_row < PERIODIC_SHARE - 1):
            self._in_a_row += bool(periodic)
            return 0
        self._in_a_row = 0
        return 1

    def _sweep(self, lane: _Lane) -> None:
        if not (lane.running or lane.ready[0] or lane.ready[1]):
            self._lanes.pop(lane.name, None)
