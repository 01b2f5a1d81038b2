"""Decides which object is looked at next: only names travel, and the worker reads the newest state.

Ten events for one name are one run: it is *ready* once, or *running* and at most once *dirty*, which causes
exactly one more run. It may also wait for a time (one entry of one heap): the earliest asked for counts, a
later `add_at` never delays it, and a run answers for every time asked before the run began.

New, changed and forced objects (urgent) pass ahead of periodic ones, though not always: a flood of changes
must not stop the periodic ones. Lanes (one for each store) take turns, and each has a cap on what runs at
once: a store that hangs holds up nobody else.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.delay_queue import DelayQueue
from syncret.daemon.engine.queue.fair_queue import FairQueue

POP_AT_ONCE: Final = 2000
"""Timers moved in one turn of the loop; more would hold up everything else."""


class QueueClosed(Exception):
    """The queue gives out no more tickets."""


class QueueItem(NamedTuple):
    """One run: whose, how long it was ready before, and in which lane."""

    ref: ObjectRef
    waited: float
    lane: str


class QueueStats(NamedTuple):
    """A snapshot. `oldest` is the age of the oldest item due and not running, `longest` that of a run."""

    ready: int
    urgent: int
    scheduled: int
    running: int
    oldest: float
    longest: float
    runs: int
    waited: float


class _Run:
    """What is known of a name that is being run."""

    __slots__ = ("dirty", "lane", "since", "urgent")

    def __init__(self, lane: str, since: float) -> None:
        self.lane = lane
        self.since = since
        self.dirty: tuple[str, float] | None = None
        self.urgent = False


class WorkQueue:
    """Names that are due now or later, given out one by one."""

    def __init__(self, clock: Clock, *, lane_cap: int = 128) -> None:
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._lanes = FairQueue(lane_cap)
        self._timers = DelayQueue()
        self._running: dict[ObjectRef, _Run] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._quiet: list[asyncio.Future[None]] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._closed = False
        self._runs = 0
        self._waited = 0.0
        clock.on_jump(self._rearm)

    def add(self, ref: ObjectRef, *, urgent: bool = False, lane: str = "") -> None:
        """Run it as soon as may be; if it is running, once more afterwards."""
        self._ready(ref, self._clock.now(), urgent=urgent, lane=lane)

    def add_at(self, ref: ObjectRef, due: float, *, lane: str = "") -> None:
        """Run it at this moment of the wall clock, or at an earlier one already asked for."""
        if self._timers.add(ref, due, lane):
            self._arm()

    async def get(self) -> QueueItem:
        """The next name to run; `done` must follow. Raises QueueClosed."""
        while True:
            if self._closed:
                raise QueueClosed
            ticket = self._take()
            if ticket is not None:
                return ticket
            getter: asyncio.Future[None] = self._loop.create_future()
            self._getters.append(getter)
            try:
                await getter
            except asyncio.CancelledError:
                if getter.done() and not getter.cancelled():
                    self._wake()  # the call was meant for someone who still waits
                elif getter in self._getters:
                    self._getters.remove(getter)
                raise

    def done(self, ref: ObjectRef) -> None:
        """The run is over; what was asked meanwhile becomes ready."""
        run = self._running.pop(ref, None)
        if run is None:
            return
        self._lanes.release(run.lane)
        if run.dirty is not None:
            lane, since = run.dirty
            self._lanes.add(ref, since, urgent=run.urgent, lane=lane)
        self._wake()
        self._tell_quiet()

    def close(self) -> None:
        """Give out no more; whoever waits in `get` is told."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.cancel()
        for getter in self._getters:
            if not getter.done():
                getter.set_result(None)
        self._getters.clear()

    @property
    def idle(self) -> bool:
        """Nothing is ready, running or overdue; timers in the future do not count."""
        due = self._timers.due
        return not (self._lanes.size or self._running or (due is not None and due <= self._clock.now()))

    async def quiet(self) -> None:
        """Wait until the queue is idle."""
        while not self.idle:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._quiet.append(waiter)
            await waiter

    def due(self, ref: ObjectRef) -> float | None:
        """The moment for which it waits, where it does."""
        return self._timers.get(ref)

    def running(self) -> Iterator[ObjectRef]:
        """The names that are being run, longest first."""
        return iter(self._running)

    def stats(self) -> QueueStats:
        now = self._clock.now()
        first = [since for since in (self._lanes.oldest, self._timers.due) if since is not None]
        started = next((run.since for run in self._running.values()), now)
        return QueueStats(
            ready=self._lanes.size,
            urgent=self._lanes.urgent,
            scheduled=len(self._timers),
            running=len(self._running),
            oldest=max(0.0, now - min(first, default=now)),
            longest=max(0.0, now - started),
            runs=self._runs,
            waited=self._waited,
        )

    def _ready(self, ref: ObjectRef, since: float, *, urgent: bool, lane: str) -> None:
        run = self._running.get(ref)
        if run is None:
            self._lanes.add(ref, since, urgent=urgent, lane=lane)
            self._wake()
        else:
            run.urgent = run.urgent or urgent if run.dirty else urgent
            run.dirty = (lane, run.dirty[1] if run.dirty else since)

    def _take(self) -> QueueItem | None:
        taken = self._lanes.pop()
        if taken is None:
            return None
        ref, since, lane = taken
        now = self._clock.now()
        self._timers.discard(ref)
        self._running[ref] = _Run(lane, now)
        waited = max(0.0, now - since)
        self._runs += 1
        self._waited += waited
        return QueueItem(ref, waited, lane)

    def _wake(self) -> None:
        if not self._lanes.open:
            return
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _tell_quiet(self) -> None:
        if self._quiet and self.idle:
            for waiter in self._quiet:
                if not waiter.done():
                    waiter.set_result(None)
            self._quiet.clear()

    def _rearm(self, _: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._arm()

    def _arm(self) -> None:
        """One timer of the loop serves the whole heap."""
        due = self._timers.due
        if due is None or self._closed:
            return
        when = max(self._clock.loop_time(due), self._loop.time())
        if self._alarm is not None:
            if self._alarm.when() <= when:
                return
            self._alarm.cancel()
        self._alarm = self._loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        for ref, due, lane in self._timers.pop(self._clock.now(), POP_AT_ONCE):
            self._ready(ref, due, urgent=False, lane=lane)
        self._tell_quiet()
        self._arm()

    def __repr__(self) -> str:
        s = self.stats()
        return (
            f"<WorkQueue ready={s.ready} scheduled={s.scheduled} running={s.running} oldest={s.oldest:.1f}s>"
        )
