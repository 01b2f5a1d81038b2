"""Gives out ready items fairly: urgent before periodic, lanes in turn, and bounded for each lane and for all.

A lane is a store or a generator. `storeWorkers` limits the runs that use one lane at once, and `storeWaits`
those of all lanes. Lanes that do not answer share a small part of the latter for new runs. The runs that they
had started before no longer count, so that stores that do not answer never block one that does.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import role_of

PERIODIC_SHARE: Final = 16
"""If both kinds wait, every sixteenth turn is for a periodic item: they become slower, but never stop."""

SILENT_PART: Final = 8
"""Lanes that do not answer share an eighth of all waits."""

NO_STORE: Final = ""
"""The lane of items that wait for no store."""

Lanes: TypeAlias = tuple[str, ...]
"""The stores that an item may wait for: it counts in each, and queues in the first that has no room."""

Answering: TypeAlias = Literal["unknown", "yes", "no"]
"""Whether a store answers; unknown while none of those who wait for it has had the time to learn that."""


class _Lane:
    """The items of one store: since when each is ready, or was before it ran; and how many runs use it."""

    __slots__ = ("answering", "name", "ready", "running", "used")

    def __init__(self, name: str, answering: Answering) -> None:
        self.name = name
        self.answering: Answering = "yes" if name == NO_STORE else answering
        # A plain dict takes the longer to find its first entry, the more of them were taken before.
        self.ready: tuple[OrderedDict[ObjectRef, float], ...] = (OrderedDict(), OrderedDict())
        self.running: dict[ObjectRef, float] = {}
        self.used = 0

    @property
    def oldest(self) -> float:
        """Since when the first of its items is ready."""
        return min((next(iter(ready.values())) for ready in self.ready if ready), default=inf)

    def has_before(self, moment: float) -> bool:
        """Whether an item has been ready since before this moment, or was before it was started."""
        for ready in self.ready:
            if ready and next(iter(ready.values())) < moment:
                return True
        return any(since < moment for since in self.running.values())


class _Place(NamedTuple):
    """The place of a ready item in the queue."""

    lane: _Lane
    level: int
    lanes: Lanes


class FairQueue:
    """Ready items by urgency (0: urgent, 1: periodic) and lane.

    `_turns` holds, for each urgency, the lanes that have such items and may have room for another run, in
    order of their turns; `_held` those that had none when their turn came, although below their own cap.
    """

    def __init__(self, cap: int, waits: int) -> None:
        self._cap = cap
        self._waits = waits
        self._part = max(1, waits // SILENT_PART)
        self._lanes: dict[str, _Lane] = {}
        self._answering: dict[str, Answering] = {}
        self._silent = 0
        self._used = 0
        """Uses of all lanes."""
        self._used_silent = 0
        """Those of lanes that do not answer."""
        self._turns: tuple[dict[str, _Lane], dict[str, _Lane]] = ({}, {})
        self._held: dict[str, _Lane] = {}
        self._where: dict[ObjectRef, _Place] = {}
        self._in_a_row = 0
        self.counts: Counter[tuple[str, int]] = Counter()
        """How many items are ready, by kind and urgency."""

    def __contains__(self, ref: ObjectRef) -> bool:
        return ref in self._where

    @property
    def size(self) -> int:
        return len(self._where)

    @property
    def urgent(self) -> int:
        """How many of the ready items are urgent."""
        return sum(count for (_, level), count in self.counts.items() if level == 0)

    @property
    def open(self) -> bool:
        """Whether `pop` may give one."""
        full = self._used - self._used_silent >= max(1, self._waits - self._part)
        return not full and bool(self._turns[0] or self._turns[1])

    @property
    def oldest(self) -> float:
        """Since when the longest waiting item is ready; infinity if there is none."""
        return min((lane.oldest for lane in self._lanes.values()), default=inf)

    def has_before(self, name: str, moment: float) -> bool:
        """Whether an item of this lane, ready or running, has been ready since before this moment."""
        lane = self._lanes.get(name)
        return lane is not None and lane.has_before(moment)

    def add(self, ref: ObjectRef, since: float, *, urgent: bool, lanes: Lanes) -> Lanes:
        """Make ready. An item that is ready keeps its place, unless it becomes urgent or changes lanes.

        Returns the lanes that it leaves.
        """
        level = 0 if urgent else 1
        known = self._where.get(ref)
        left: Lanes = ()
        if known is not None:
            level = min(level, known.level)
            if known.lanes == lanes and known.level == level:
                return ()
            since = min(since, known.lane.ready[known.level][ref])
            self.discard(ref)
            left = () if known.lanes == lanes else known.lanes
        self._put(ref, since, _Place(self._lane(lanes[0]), level, lanes))
        return left

    def discard(self, ref: ObjectRef) -> Lanes:
        """Make unready. Returns the lanes that it leaves."""
        place = self._where.pop(ref, None)
        if place is None:
            return ()
        lane, level, _ = place
        del lane.ready[level][ref]
        self.counts[ref.kind, level] -= 1
        if not lane.ready[level]:
            self._turns[level].pop(lane.name, None)
        self._sweep(lane)
        return place.lanes

    def pop(self) -> tuple[ObjectRef, float, Lanes] | None:
        """The next item that may run, since when it is ready, and its lanes; `finish` must follow."""
        while self.open:
            level = self._level()
            lane = self._turns[level].pop(next(iter(self._turns[level])))
            if not self._has_room(lane):
                self._hold(lane)
                continue
            taken = self._take(lane, level)
            if taken is None:
                continue
            self._in_a_row = self._in_a_row + bool(self._turns[1]) if level == 0 else 0
            return taken
        return None

    def use(self, name: str) -> None:
        """A run uses this lane."""
        lane = self._lanes[name]
        lane.used += 1
        self._used += 1
        self._used_silent += lane.answering == "no"

    def release(self, name: str) -> None:
        """A run uses this lane no longer: it waits for another store, or has ended."""
        lane = self._lanes[name]
        lane.used -= 1
        self._used -= 1
        self._used_silent -= lane.answering == "no"
        self._held.pop(name, None)
        self._give_turns(lane)
        if self._used == self._waits - 1:
            self._reconsider()

    def finish(self, ref: ObjectRef, lanes: Lanes) -> None:
        """The run is over; it has released its lanes."""
        for name in lanes:
            lane = self._lanes[name]
            del lane.running[ref]
            self._sweep(lane)

    def set_answering(self, name: str, answering: Answering) -> None:
        """A store answers those who wait for it, or does not; unknown: nothing waits for it now."""
        before = self._answering.pop(name, "unknown")
        if answering != "unknown":
            self._answering[name] = answering
        self._silent += (answering == "no") - (before == "no")
        lane = self._lanes.get(name)
        if lane is not None:
            self._used_silent += lane.used * ((answering == "no") - (lane.answering == "no"))
            lane.answering = answering
        self._reconsider()

    def _has_room(self, lane: _Lane) -> bool:
        if lane.answering == "yes" or (lane.answering == "unknown" and self._used < self._waits):
            return lane.used < self._cap
        return lane.used < min(self._cap, max(1, self._part // max(1, self._silent)))

    def _level(self) -> int:
        urgent, periodic = self._turns
        return 0 if not periodic or (urgent and self._in_a_row < PERIODIC_SHARE - 1) else 1

    def _take(self, lane: _Lane, level: int) -> tuple[ObjectRef, float, Lanes] | None:
        """Start the first item that has room in all its lanes; those before it queue elsewhere now."""
        while lane.ready[level]:
            ref, since = next(iter(lane.ready[level].items()))
            lanes = self._where[ref].lanes
            if len(lanes) > 1:
                full = next((each for each in map(self._lane, lanes) if not self._has_room(each)), None)
                if full is not None:
                    self._move(ref, since, full)
                    continue
            for each in lanes:
                self._lanes[each].running[ref] = since
                self.use(each)
            self.discard(ref)
            self._give_turns(lane)
            return ref, since, lanes
        return None

    def _move(self, ref: ObjectRef, since: float, lane: _Lane) -> None:
        place = self._where[ref]
        self.discard(ref)
        self._put(ref, since, place._replace(lane=lane))

    def _put(self, ref: ObjectRef, since: float, place: _Place) -> None:
        lane, level, _ = place
        lane.ready[level][ref] = since
        self._where[ref] = place
        self.counts[ref.kind, level] += 1
        self._lanes[lane.name] = lane
        self._give_turns(lane)

    def _lane(self, name: str) -> _Lane:
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane(name, self._answering.get(name, "unknown"))
        return lane

    def _give_turns(self, lane: _Lane) -> None:
        """A turn for each kind of item that the lane has, after those that wait for theirs already."""
        if lane.used >= self._cap or lane.name in self._held:
            for turns in self._turns:
                turns.pop(lane.name, None)
            return
        for turns, ready in zip(self._turns, lane.ready, strict=True):
            if ready:
                turns.setdefault(lane.name, lane)

    def _hold(self, lane: _Lane) -> None:
        self._held[lane.name] = lane
        self._give_turns(lane)

    def _reconsider(self) -> None:
        """Give turns to lanes that have room again."""
        for lane in [each for each in self._held.values() if self._has_room(each)]:
            del self._held[lane.name]
            self._give_turns(lane)

    def _sweep(self, lane: _Lane) -> None:
        if not (lane.used or lane.running or lane.ready[0] or lane.ready[1]):
            self._lanes.pop(lane.name, None)
            self._held.pop(lane.name, None)


_CALLED: Final = ("store", "generator")


def lanes_of(ref: ObjectRef, dependencies: Sequence[ObjectRef]) -> Lanes:
    """The stores and generators whose calls a run of the object waits for: it shares their turns and caps.

    Resources of kinds that others define share those of their namespace: they wait for its vendor's APIs.
    """
    role = role_of(ref[:2])
    if role == "store":
        return _shared((str(ref),))
    if role is None:
        return _shared((resources_lane(ref.namespace),))
    return _shared(tuple(str(each) for each in dependencies if role_of(each[:2]) in _CALLED))


def resources_lane(namespace: str) -> str:
    """The lane of a namespace's resources, whose secrets are read as the namespace says."""
    return f"resources in {namespace}"


@lru_cache(maxsize=1024)
def _shared(lanes: Lanes) -> Lanes:
    """The same lanes; those of thousands of objects on one store are one tuple."""
    return lanes
