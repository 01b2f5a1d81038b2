"""The work queue: decides which object runs next. Only names travel, and the run reads the newest state.

Ten events for one name are one run: it is *ready* once, or *running* and at most once *dirty*, which causes
exactly one more run. It may also wait for a time (one entry of one heap): the earliest asked for counts, a
later `add_at` never delays it, and a run answers for every time asked before the run began.

New, changed and forced objects (urgent) pass ahead of periodic ones, though not always: a flood of changes
must not stop the periodic ones. Lanes (one for each store) take turns. At most `workers` runs go on at once;
one that waits for a provider does not count. The runs that use one store, and those that use any, are limited
too: a store that hangs delays no other.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.delay_queue import DelayQueue
from syncret.daemon.engine.queue.fair_queue import NO_STORE, Answering, FairQueue, Lanes
from syncret.daemon.engine.queue.waiting import StoreWatch, Workers

_NO_STORE: Final = (NO_STORE,)


class QueueClosed(Exception):
    """The queue gives out no more items."""


class QueueItem(NamedTuple):
    """One run: of which object, since when it was due (in the loop's time), how long it waited, its lanes."""

    ref: ObjectRef
    since: float
    waited: float
    lanes: Lanes

    @property
    def lane(self) -> str:
        """The first of its lanes."""
        return self.lanes[0]


class QueueStats(NamedTuple):
    """A snapshot. `oldest` is the age of the oldest item that is due, `longest` that of a run.

    An item stays due until its run is over: that may wait for a store.

    `waiting` are those of the running that wait for a provider.
    """

    ready: int
    urgent: int
    scheduled: int
    running: int
    waiting: int
    oldest: float
    longest: float
    runs: int
    waited: float


class KindStats(NamedTuple):
    """A snapshot of the objects of one kind: ready ones by urgency, how often one was added, and the runs."""

    urgent: int
    periodic: int
    added: int
    working: int
    """Runs that have a worker: those that wait for a provider have none."""
    seconds: float
    """The age of all runs together."""
    longest: float


class _Run:
    """The state of a name that is running: the stores that it waits for, and requests that came meanwhile."""

    __slots__ = ("begin", "dirty", "has_worker", "lanes", "since", "urgent", "uses", "waits")

    def __init__(self, lanes: Lanes, begin: float, since: float) -> None:
        self.lanes = self.uses = lanes
        self.begin = begin
        self.since = since
        self.has_worker = True
        self.waits: dict[str, int] = {}
        self.dirty: tuple[Lanes, float] | None = None
        self.urgent = False


LONG: Final = 5.0
"""Seconds after which a run counts as long, and its age is reported."""


class WorkQueue:
    """Names that are due now or later, given out one by one."""

    def __init__(self, clock: Clock, *, workers: int = 512, lane_cap: int = 128, waits: int = 4096) -> None:
        self.clock = clock
        self._loop = asyncio.get_running_loop()
        self._ready = FairQueue(lane_cap, waits)
        self._timers = DelayQueue(clock, self._on_due, self._after_due)
        self._workers = Workers(workers)
        self._stores = StoreWatch(self._on_answering)
        self._running: dict[ObjectRef, _Run] = {}
        self._waiting = 0
        self._on_progress: list[Callable[[Lanes | None], None]] = []
        self._more_due = False
        self._getters: deque[asyncio.Future[None]] = deque()
        self._quiet: list[asyncio.Future[None]] = []
        self._closed = False
        self._on_wait: Callable[[ObjectRef], object] | None = None
        self._added: Counter[str] = Counter()
        self._runs = 0
        self._waited = 0.0

    def add(
        self, ref: ObjectRef, *, urgent: bool = False, lanes: Lanes = (), since: float | None = None
    ) -> None:
        """Run it as soon as possible; if it is running, once more afterwards. It is due `since`, or now."""
        if since is None:
            since = self._loop.time()
        self._make_ready(ref, since, urgent=urgent, lanes=lanes or _NO_STORE)

    def add_at(self, ref: ObjectRef, due: float, *, lanes: Lanes = ()) -> None:
        """Run it at this moment of the wall clock, or at an earlier one already asked for."""
        self._timers.add(ref, due, lanes or _NO_STORE)

    def discard(self, ref: ObjectRef) -> None:
        """Drop it from the queue. A run that has begun goes on, but is not repeated."""
        self._timers.discard(ref)
        if ref in self._running:
            self._running[ref].dirty = None
        left = self._ready.discard(ref)
        if left:
            self._report_progress(left)
        self._report_quiet()

    async def get(self) -> QueueItem:
        """The next name to run; `done` must follow. Raises QueueClosed."""
        while True:
            if self._closed:
                raise QueueClosed
            item = self._take()
            if item is not None:
                return item
            getter: asyncio.Future[None] = self._loop.create_future()
            self._getters.append(getter)
            try:
                await getter
            except asyncio.CancelledError:
                if getter.done() and not getter.cancelled():
                    self._wake()  # the item is for a call that still waits
                elif getter in self._getters:
                    self._getters.remove(getter)
                raise

    def done(self, ref: ObjectRef) -> None:
        """The run is over; what was asked meanwhile becomes ready."""
        run = self._running.pop(ref, None)
        if run is None:
            return
        for name in run.uses:
            self._ready.release(name)
        self._ready.finish(ref, run.lanes)
        if run.has_worker:
            self._workers.give_back()
        if run.dirty is not None:
            lanes, since = run.dirty
            self._ready.add(ref, since, urgent=run.urgent, lanes=lanes)
        self._report_progress(run.lanes)
        self._wake()
        self._report_quiet()

    def suspend(self, ref: ObjectRef, store: str) -> None:
        """The run waits for this store: until it goes on, another may use its worker, and its other lanes."""
        run = self._running[ref]
        if not run.waits:
            self._waiting += 1
        run.waits[store] = run.waits.get(store, 0) + 1
        self._stores.wait_begins(store)
        self._count_uses(run)
        if run.has_worker:
            run.has_worker = False
            self._workers.give_back()
        self._wake()
        if self._on_wait is not None:
            self._on_wait(ref)

    async def resume(self, ref: ObjectRef, store: str, *, ends: bool = False) -> None:
        """It waits no longer: take a worker, ahead of runs to be started, unless the run ends now."""
        run = self._running[ref]
        self._stores.wait_ends(store)
        run.waits[store] -= 1
        if not run.waits[store]:
            del run.waits[store]
        self._count_uses(run)
        if run.waits:
            self._wake()
            return  # a part of it goes on, while another waits
        self._waiting -= 1
        if ends or run.has_worker:
            return
        try:
            await self._workers.regain()
        except asyncio.CancelledError:
            self._wake()
            raise
        if run.waits:  # another part of it has begun to wait since
            self._workers.give_back()
            self._wake()
        else:
            run.has_worker = True

    def answered(self, store: str) -> None:
        """The store answered a call, whatever it said."""
        self._stores.answered(store)

    def has_request_before(self, store: str, moment: float) -> bool:
        """Whether an item of this store that runs, or is to be run, was due before this moment of the loop.

        An item of several stores counts, until it runs, at that which it queues for.
        """
        return self._ready.has_before(store, moment) or (self._more_due and self._timers.earliest < moment)

    def on_progress(self, listener: Callable[[Lanes | None], None]) -> None:
        """Call this when items of these lanes (None: of any) are done, or have left them."""
        self._on_progress.append(listener)

    def close(self, on_wait: Callable[[ObjectRef], object] | None = None) -> None:
        """Give out no more; every `get` that waits raises QueueClosed.

        `on_wait` is called with each run that waits for a store, now or later.
        """
        self._closed = True
        self._on_wait = on_wait
        if on_wait is not None:
            for ref in [ref for ref, run in self._running.items() if run.waits]:
                on_wait(ref)
        self._timers.close()
        for getter in self._getters:
            if not getter.done():
                getter.set_result(None)
        self._getters.clear()

    @property
    def idle(self) -> bool:
        """Nothing is ready, running or overdue; timers in the future do not count."""
        return not (self._ready.size or self._running or self._timers.earliest <= self._loop.time())

    async def quiet(self) -> None:
        """Wait until the queue is idle."""
        while not self.idle:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._quiet.append(waiter)
            await waiter

    def due(self, ref: ObjectRef) -> float | None:
        """The moment for which it waits; now, if it is to be run or is being run."""
        if ref in self._running or ref in self._ready:
            return self.clock.now()
        return self._timers.get(ref)

    def is_running(self, ref: ObjectRef) -> bool:
        """Whether it is being run now."""
        return ref in self._running

    def running_for(self, ref: ObjectRef) -> float | None:
        """For how long it has been run; None if it is not, or for less than a few seconds."""
        run = self._running.get(ref)
        seconds = 0.0 if run is None else self._loop.time() - run.begin
        return seconds if seconds >= LONG else None

    def running(self) -> Iterator[ObjectRef]:
        """The names that are being run, longest first."""
        return iter(self._running)

    def unanswered(self, store: str) -> float | None:
        """For how long runs have waited for a store without an answer; None if it is no second."""
        since = self._stores.silent_since(store)
        return None if since is None else self._loop.time() - since

    def stats(self) -> QueueStats:
        now = self._loop.time()
        started = next((run.begin for run in self._running.values()), now)
        running = min((run.since for run in self._running.values()), default=now)
        return QueueStats(
            ready=self._ready.size,
            urgent=self._ready.urgent,
            scheduled=len(self._timers),
            running=len(self._running),
            waiting=self._waiting,
            oldest=max(0.0, now - min(self._ready.oldest, self._timers.earliest, running)),
            longest=max(0.0, now - started),
            runs=self._runs,
            waited=self._waited,
        )

    def stats_of(self, kinds: Iterable[str]) -> dict[str, KindStats]:
        """The objects of each of these kinds."""
        now, counts = self._loop.time(), self._ready.counts
        runs: dict[str, list[_Run]] = {}
        for ref, run in self._running.items():
            runs.setdefault(ref.kind, []).append(run)
        stats: dict[str, KindStats] = {}
        for kind in kinds:
            ages = [now - run.begin for run in runs.get(kind, ())]
            stats[kind] = KindStats(
                urgent=counts[kind, 0],
                periodic=counts[kind, 1],
                added=self._added[kind],
                working=sum(run.has_worker for run in runs.get(kind, ())),
                seconds=sum(ages),
                longest=max(ages, default=0.0),
            )
        return stats

    def _make_ready(self, ref: ObjectRef, since: float, *, urgent: bool, lanes: Lanes) -> None:
        run = self._running.get(ref)
        if run is None:
            self._added[ref.kind] += ref not in self._ready
            left = self._ready.add(ref, since, urgent=urgent, lanes=lanes)
            if left:
                self._report_progress(left)
            self._wake()
        else:
            self._added[ref.kind] += run.dirty is None
            run.urgent = run.urgent or urgent if run.dirty else urgent
            run.dirty = (lanes, run.dirty[1] if run.dirty else since)

    def _take(self) -> QueueItem | None:
        taken = self._ready.pop() if self._workers.has_free else None
        if taken is None:
            return None
        ref, since, lanes = taken
        now = self._loop.time()
        self._workers.take()
        self._timers.discard(ref)
        self._running[ref] = _Run(lanes, now, since)
        waited = max(0.0, now - since)
        self._runs += 1
        self._waited += waited
        return QueueItem(ref, since, waited, lanes)

    def _count_uses(self, run: _Run) -> None:
        """A run uses its lanes; while it waits, only those that it waits for, as far as they are its own."""
        if len(run.lanes) == 1:
            return
        uses = tuple(name for name in run.lanes if name in run.waits) or run.lanes
        for name in run.uses:
            if name not in uses:
                self._ready.release(name)
        for name in uses:
            if name not in run.uses:
                self._ready.use(name)
        run.uses = uses

    def _on_answering(self, store: str, answering: Answering) -> None:
        self._ready.set_answering(store, answering)
        self._wake()

    def _report_progress(self, lanes: Lanes | None) -> None:
        for listener in self._on_progress:
            listener(lanes)

    def _wake(self) -> None:
        if not (self._workers.has_free and self._ready.open):
            return
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _report_quiet(self) -> None:
        if self._quiet and self.idle:
            for waiter in self._quiet:
                if not waiter.done():
                    waiter.set_result(None)
            self._quiet.clear()

    def _on_due(self, ref: ObjectRef, since: float, lanes: Lanes) -> None:
        self._make_ready(ref, since, urgent=False, lanes=lanes)

    def _after_due(self) -> None:
        before, self._more_due = self._more_due, self._timers.has_more
        if before and not self._more_due:
            self._report_progress(None)
        self._report_quiet()

    def __repr__(self) -> str:
        s = self.stats()
        return (
            f"<WorkQueue ready={s.ready} scheduled={s.scheduled} running={s.running} oldest={s.oldest:.1f}s>"
        )
