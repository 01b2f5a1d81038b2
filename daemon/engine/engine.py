"""Keeps every object reconciled: takes in events, decides what runs next, runs it, and plans the next run.

Home -> inventory -> queue -> reconciler -> queue. Each run is a named task of one TaskGroup; a bug in one
run is caught at its edge and counted, while a failing source or queue takes the whole engine down, for its
supervisor to start it anew: an engine that no longer hears of changes must not look alive.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import islice
from pathlib import PurePath
from sys import intern
from traceback import walk_tb
from types import TracebackType
from typing import Final

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.inventory import Change, Inventory
from syncret.daemon.engine.observer import NullObserver, Observer, Run
from syncret.daemon.engine.queue.workqueue import QueueClosed, QueueItem, WorkQueue
from syncret.daemon.engine.reconciler import Failure, On, Outcome, Reconciler
from syncret.daemon.engine.retry import rules_of
from syncret.daemon.engine.sessions.read_batching import due_since
from syncret.daemon.engine.writes import OwedStatus, WriteGate, Writes
from syncret.daemon.homes.contract import Conflict, Home, HomeError, ObjectWriter, StoredObject, WatchEvent
from syncret.providers.errors import SyncError

MAX_URGENT_DEPENDENTS: Final = 100
"""So many dependents pass ahead of periodic work; more would be a herd that keeps changes waiting."""


EVENTS_AT_ONCE: Final = 100
"""Events, or objects that one of them wakes, that are dealt with before the loop may turn."""


class SourceEnded(Exception):
    """The home tells of no more changes, although nobody asked it to stop."""


class Bug(SyncError):
    """A run ended by an exception that is no failure of a store or home."""


class Engine:
    """The loop around the reconcilers. Everything about it happens on one event loop."""

    def __init__(
        self,
        home: Home,
        reconcilers: Iterable[Reconciler],
        *,
        inventory: Inventory,
        clock: Clock,
        settings: Settings,
        writer: ObjectWriter | None = None,
        observer: Observer | None = None,
        listeners: Iterable[Callable[[WatchEvent], None]] = (),
    ) -> None:
        """`writer` writes in the place of the home; `listeners` are given every version that is new here."""
        self.queue = WorkQueue(clock, lane_cap=settings.store_workers)
        self.synced = asyncio.Event()
        self.first_pass = asyncio.Event()
        self._home = home
        self._writer = writer or home
        self._reconcilers: dict[GroupKind, Reconciler] = {}
        for reconciler in reconcilers:
            self._reconcilers[reconciler.group_kind] = reconciler
            inventory.learn(reconciler.group_kind, reconciler.dependencies)
        self._inventory = inventory
        self._clock = clock
        self._settings = settings
        self._observer = observer or NullObserver()
        self._listeners = tuple(listeners)
        self._retry = rules_of(settings)
        self._gate = WriteGate(settings.api_writes or home.writes_at_once)
        self._owed: dict[ObjectRef, OwedStatus] = {}
        self._listed: set[GroupKind] = set()
        self._started: set[GroupKind] = set()
        """Kinds whose objects are run: all that their runs look up is known."""
        self._events_during_run: dict[ObjectRef, list[tuple[ObjectRef, str]]] = {}
        """For each object that is being run, the versions that would wake it: they may be its own writes."""
        self._requested_at: dict[ObjectRef, float] = {}
        """When a run was last asked for by an event, until it begins."""
        self._lanes: dict[ObjectRef, str] = {}
        self._failures: dict[ObjectRef, int] = {}
        self._conflicts: dict[ObjectRef, int] = {}
        self._first: set[ObjectRef] = set()
        self._backlog: deque[Iterator[None]] = deque()
        """Objects still to be woken, where there are too many of them for one turn of the loop."""
        self._has_backlog = asyncio.Event()
        self._pauses = 0
        """How often the loop was let turn although there was more to take in."""
        self._stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._begin = self._loop.time()
        clock.on_jump(self._jumped)

    async def run(self) -> None:
        """Work until `stop`, then let what is under way finish, for the drain timeout at most."""
        async with asyncio.TaskGroup() as group:
            listen = group.create_task(self._listen(), name="engine: listen")
            runs: set[asyncio.Task[None]] = set()
            wake = group.create_task(self._work_off_backlog(), name="engine: wake")
            hand_out = group.create_task(self._hand_out(group, runs), name="engine: hand out")
            await self._stopping.wait()
            listen.cancel()
            wake.cancel()
            self.queue.close()
            hand_out.cancel()
            if runs:
                await asyncio.wait(runs, timeout=self._settings.drain_timeout)
            for late in runs:
                late.cancel()

    def stop(self) -> None:
        """End `run`."""
        self._stopping.set()

    async def wait_idle(self) -> None:
        """Wait until every event is taken in and nothing is ready or running; future timers do not count."""
        await self.synced.wait()
        while True:
            await self._home.announced()
            if self._backlog:
                await asyncio.sleep(0)
            elif self.queue.idle:
                return
            else:
                await self.queue.quiet()

    def refresh(self, ref: ObjectRef) -> bool:
        """Run an object now, ahead of the periodic ones. False where there is none."""
        known = self._inventory.get(ref) is not None and ref.group_kind in self._reconcilers
        if known:
            self._wake(ref, urgent=True)
        return known

    def requeue_all(self) -> None:
        """Run every object once more."""
        for ref in self._lanes:
            self._wake(ref, urgent=False)

    def record(self, stored: StoredObject, writer: ObjectRef | None) -> None:
        """Take in a version that a run wrote or read: nothing has to wait for its event.

        `writer` is the run's object where it knows what this version means to it.
        """
        self._discount(stored, writer)
        self._on_change(self._inventory.record(stored), writer)

    def is_reconciled(self, kind: GroupKind) -> bool:
        """Whether objects of this kind are run."""
        return kind in self._reconcilers

    def record_deleted(self, seen: StoredObject, writer: ObjectRef | None) -> None:
        """Take in that an object is gone."""
        self._discount(seen, writer)
        self._on_change(self._inventory.record_deleted(seen), writer)

    def _discount(self, stored: StoredObject, writer: ObjectRef | None) -> None:
        """The event of a write may come before its answer: it is no reason to run the writer again."""
        during = None if writer is None else self._events_during_run.get(writer)
        if during:
            during[:] = [each for each in during if each != (stored.ref, stored.resource_version)]

    def failures(self, ref: ObjectRef) -> int:
        """How often in a row the object has failed."""
        return self._failures.get(ref, 0)

    @property
    def failing(self) -> int:
        """How many objects failed at their last run."""
        return len(self._failures)

    def due(self, ref: ObjectRef) -> float | None:
        """When the object is looked at next, as far as is known."""
        return self.queue.due(ref)

    # --------------------------------------------------------------------------------------------- changes
    async def _listen(self) -> None:
        async with aclosing(self._home.watch()) as events:
            self._start_kinds()
            count = 0
            async for event in events:
                self._on_event(event)
                count += 1
                if count % EVENTS_AT_ONCE == 0:  # a list of a hundred thousand must not hold up the loop
                    await asyncio.sleep(0)
        raise SourceEnded

    def _on_event(self, event: WatchEvent) -> None:
        change = self._inventory.apply(event)
        if event.object is None:
            self._on_listed(event.group_kind)
            return
        self._on_change(change, None)

    def _on_change(self, change: Change | None, writer: ObjectRef | None) -> None:
        """Take in what is new: index it, and wake the object and those that depend on what differs."""
        if change is None:
            return
        event = change.event()
        for listener in self._listeners:
            listener(event)
        ref, before, after, _ = change
        reconciler = self._reconcilers.get(ref.group_kind)
        is_new = before is None or after is None or not after.has_same_generation(before)
        if reconciler is not None and after is not None and is_new:
            self._lanes[ref] = intern(reconciler.store_lane(ref, self._inventory.dependencies(ref)))
        if not self._started:
            return
        runs_itself = reconciler is not None and (ref != writer or after is None)
        if not runs_itself and not self._inventory.has_dependents(ref):
            return
        on, version = change.on, change.version
        if runs_itself and on & (On.EXISTENCE | On.SPEC):
            self._notify(ref, ref, version, urgent=True)
        dependents = [each for each in self._inventory.dependents(ref, on) if each not in (ref, writer)]
        if len(dependents) <= MAX_URGENT_DEPENDENTS:
            for dependent in dependents:
                self._notify(dependent, ref, version, urgent=True)
        else:
            self._later(self._notify_each(dependents, ref, version))

    def _notify_each(self, listeners: Sequence[ObjectRef], ref: ObjectRef, version: str) -> Iterator[None]:
        for listener in listeners:
            self._notify(listener, ref, version, urgent=False)
            yield

    def _later(self, steps: Iterator[None]) -> None:
        self._backlog.append(steps)
        self._has_backlog.set()

    async def _work_off_backlog(self) -> None:
        """Wake what is still to be woken, so many in each turn of the loop."""
        while True:
            await self._has_backlog.wait()
            while self._backlog:
                steps = sum(1 for _ in islice(self._backlog[0], EVENTS_AT_ONCE))
                if steps < EVENTS_AT_ONCE:
                    self._backlog.popleft()
                await asyncio.sleep(0)
            self._has_backlog.clear()

    def _on_listed(self, kind: GroupKind) -> None:
        self._listed.add(kind)
        if not self.synced.is_set():
            self._start_kinds()

    def _start_kinds(self) -> None:
        """Begin with the kinds of which all is known that their runs look up."""
        missing = [kind for kind in self._home.kinds() if kind not in self._listed]
        ready = {
            kind
            for kind, reconciler in self._reconcilers.items()
            if kind not in self._started
            and not any(each == kind or reconciler.reads(each) for each in missing)
        }
        self._started |= ready
        refs = [ref for ref in self._lanes if ref.group_kind in ready]
        self._first.update(refs)
        self._later(self._first_wakes(refs, complete=len(self._started) == len(self._reconcilers)))

    def _first_wakes(self, refs: Sequence[ObjectRef], *, complete: bool) -> Iterator[None]:
        """Wake objects for the first time; first what others depend on: then nothing waits in vain."""
        alone: list[ObjectRef] = []
        for ref in refs:
            if any(True for _ in self._inventory.dependents(ref)):
                self._wake(ref, urgent=True)
            else:
                alone.append(ref)
            yield
        for ref in alone:
            self._wake(ref, urgent=False)
            yield
        if complete:
            self._observer.listed(len(self._first))
            self.synced.set()
            self._note_first_pass(None)

    def _notify(self, listener: ObjectRef, ref: ObjectRef, version: str, *, urgent: bool) -> None:
        """Run the listener for a version of `ref`; if it is running now, once that has ended.

        An event during a run may be the echo of the run's own write, whose answer is still on the way.
        """
        if listener.group_kind not in self._started:
            return  # its first run is still to come
        during = self._events_during_run.get(listener)
        if during is None:
            self._wake(listener, urgent=urgent)
        else:
            during.append((ref, version))

    def _wake(self, ref: ObjectRef, *, urgent: bool) -> None:
        self._requested_at[ref] = self._loop.time()
        self.queue.add(ref, urgent=urgent, lane=self._lanes.get(ref, ""))

    def _jumped(self, seconds: float) -> None:
        """After a jump back, due times lie further ahead than any interval: everything is looked at again."""
        self._observer.clock_jumped(seconds)
        if seconds < 0:
            self.requeue_all()

    # ------------------------------------------------------------------------------------------------ runs
    async def _hand_out(self, group: asyncio.TaskGroup, runs: set[asyncio.Task[None]]) -> None:
        """Start runs, so many at once."""
        slots = asyncio.Semaphore(self._settings.workers)

        def ended(run: asyncio.Task[None]) -> None:
            runs.discard(run)
            slots.release()

        while True:
            await slots.acquire()
            try:
                ticket = await self.queue.get()
            except QueueClosed:
                return
            run = group.create_task(self._run(ticket), name=f"reconcile {ticket.ref}")
            runs.add(run)
            run.add_done_callback(ended)

    async def _run(self, ticket: QueueItem) -> None:
        ref = ticket.ref
        begin = self._loop.time()
        urgent = ref in self._requested_at
        due_since.set(self._requested_at.pop(ref, begin - ticket.waited))
        self._events_during_run[ref] = []
        try:
            outcome = await self._outcome(ref, urgent=urgent)
            if outcome is not None:
                self._conclude(ticket, outcome, self._loop.time() - begin)
                if not outcome.pending:
                    self._note_first_pass(ref)
        finally:
            if self._events_during_run.pop(ref):
                self._wake(ref, urgent=True)
            self.queue.done(ref)

    async def _outcome(self, ref: ObjectRef, *, urgent: bool) -> Outcome | None:
        """What the run came to; None where it is to be run again at once."""
        writes = Writes(
            ref,
            reader=self._home,
            writer=self._writer,
            inventory=self._inventory,
            recorder=self,
            gate=self._gate,
            owed=self._owed,
            urgent=urgent,
        )
        try:
            await writes.settle_status(ref)
            outcome = await self._reconcilers[ref.group_kind].reconcile(ref, writes)
        except Conflict as error:
            conflicts = self._conflicts[ref] = self._conflicts.get(ref, 0) + 1
            if self._retry.is_immediate(error, conflicts):
                self._wake(ref, urgent=True)
                return None
            outcome = self._raised(ref, error)
        except (SyncError, HomeError) as error:
            outcome = self._raised(ref, error)
        except Exception as error:  # noqa: BLE001  # the one edge where bugs are caught
            kind = type(error).__name__
            self._observer.bug(ref, kind, tuple(_places(error.__traceback__)))
            outcome = Outcome(failure=Bug(f"internal error: {kind}"))
        self._conflicts.pop(ref, None)
        return outcome

    def _raised(self, ref: ObjectRef, error: Failure) -> Outcome:
        self._observer.failed(ref, error)
        return Outcome(failure=error)

    def _conclude(self, ticket: QueueItem, outcome: Outcome, seconds: float) -> None:
        ref = ticket.ref
        gone = self._inventory.get(ref) is None
        failures = 0 if outcome.failure is None else self._failures.get(ref, 0) + 1
        if failures:
            self._failures[ref] = failures
        else:
            self._failures.pop(ref, None)
        due = self._retry.next_due(
            None if gone else outcome.next_due,
            outcome.failure,
            failures,
            now=self._clock.now(),
            chance=random.random(),  # noqa: S311  # a pause is no secret
        )
        if due is not None:
            self.queue.add_at(ref, due, lane=self._lanes.get(ref, ""))
        self._observer.ran(
            Run(
                ref=ref,
                lane=ticket.lane,
                waited=ticket.waited,
                seconds=seconds,
                failure=outcome.failure,
                failures=failures,
                next_due=due,
            )
        )
        if gone and outcome.failure is None:
            self._lanes.pop(ref, None)
            self._owed.pop(ref, None)
            self._observer.removed(ref)

    def _note_first_pass(self, ref: ObjectRef | None) -> None:
        if self.first_pass.is_set():
            return
        if ref is not None:
            self._first.discard(ref)
        if not self._first:
            self.first_pass.set()
            self._observer.first_pass(self._loop.time() - self._begin)

    def __repr__(self) -> str:
        return f"<Engine {self.queue!r} failing={len(self._failures)}>"


def _places(trace: TracebackType | None) -> Iterable[str]:
    for frame, line in walk_tb(trace):
        code = frame.f_code
        yield f"{PurePath(code.co_filename).name}:{line} in {code.co_name}"
