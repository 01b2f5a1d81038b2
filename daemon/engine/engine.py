"""Keeps every object reconciled: takes in events, decides what runs next, runs it, and plans the next run.

Home -> inventory -> queue -> reconciler -> queue. Each run is a named task of one TaskGroup; a bug in one
run is caught at its edge and counted, while a failing source or queue takes the whole engine down, for its
supervisor to start it anew: an engine that no longer hears of changes must not look alive.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from itertools import count
from pathlib import PurePath
from traceback import walk_tb
from typing import Final

import msgspec

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.core.plan.actions import LastError, last_error
from syncret.daemon.core.plan.held_write import HeldWrite
from syncret.daemon.core.schedule.refresh import Periodic
from syncret.daemon.engine.held_writes import HeldBack, HeldRecord, HeldWrites
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.observer import NullObserver, Observer, Repeat, Run
from syncret.daemon.engine.queue.waiting import CurrentRun, current_run
from syncret.daemon.engine.queue.workqueue import QueueClosed, QueueItem, WorkQueue
from syncret.daemon.engine.reconciler import Failure, Outcome, Reconciler, unreadable_object
from syncret.daemon.engine.retry import rules_of
from syncret.daemon.engine.waking import (
    EVENTS_AT_ONCE,
    Listener,
    ReconcilerOf,
    RunRequest,
    Waker,
    has_role,
    none_else,
)
from syncret.daemon.engine.writes import OwedStatus, WriteGate, Writes
from syncret.daemon.homes.contract import Conflict, Forbidden, Home, HomeError, Invalid
from syncret.providers.errors import SyncError

LAST_RUNS: Final = 3.0
"""Seconds after which a run is cancelled whose object another replica has taken over."""

_STARTED_AT_ONCE: Final = 16
"""Runs that are started before the loop may turn."""


class SourceEnded(Exception):
    """The home's watch ended, although the home was not stopped."""


class Bug(SyncError):
    """A run ended by an exception that is no failure of a store or home."""


class Engine:
    """The loop around the reconcilers. Everything about it happens on one event loop."""

    def __init__(  # noqa: PLR0913  # options, all by name
        self,
        home: Home,
        reconcilers: Iterable[Reconciler],
        *,
        inventory: Inventory,
        queue: WorkQueue,
        settings: Settings,
        observer: Observer | None = None,
        listeners: Iterable[Listener] = (),
        held: HeldRecord | None = None,
        awaits: Callable[[GroupKind], bool] = has_role,
        others: ReconcilerOf = none_else,
    ) -> None:
        """While `held` is on, runs only record there what they would write. `awaits`: see `Waker`."""
        self.queue = queue
        self.held = held or HeldRecord(lambda: False)
        self._home = home
        self._reconcilers = {reconciler.group_kind: reconciler for reconciler in reconcilers}
        self._inventory = inventory
        self._clock = queue.clock
        self._settings = settings
        self._observer = observer or NullObserver()
        self._waker = Waker(
            home,
            self._reconcilers,
            inventory=inventory,
            queue=self.queue,
            observer=self._observer,
            listeners=listeners,
            awaits=awaits,
            others=others,
        )
        self.add_listener = self._waker.add_listener
        first = self._waker.first_pass
        self.synced, self.first_pass, self.delivered = first.synced, first.complete, first.delivered
        self.is_live = first.is_live
        self._retry = rules_of(settings)
        self._gate = WriteGate(
            settings.api_writes or home.writes_at_once, on_wait=self._observer.write_waited
        )
        self._owed: dict[ObjectRef, OwedStatus] = {}
        self._failures: dict[ObjectRef, int] = {}
        self._unreported: dict[ObjectRef, LastError] = {}
        self._conflicts: dict[ObjectRef, int] = {}
        self._runs: dict[ObjectRef, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()
        self._abandons_waits = False
        self._loop = asyncio.get_running_loop()
        queue.clock.on_jump(self._jumped)

    @property
    def writes_under_way(self) -> int:
        """How many writes wait for the home's answer."""
        return self._gate.under_way

    @property
    def owed(self) -> int:
        """The number of objects whose status could not be written yet."""
        return len(self._owed)

    async def run(self) -> None:
        """Work until `stop`, then let what is under way finish, for the drain timeout at most."""
        async with asyncio.TaskGroup() as group:
            listen = group.create_task(self._listen(), name="engine: listen")
            own = group.create_task(self._follow_ownership(), name="engine: ownership")
            wake = group.create_task(self._waker.work_off_backlog(), name="engine: wake")
            hand_out = group.create_task(self._hand_out(group), name="engine: hand out")
            await self._stopping.wait()
            for task in (listen, own, wake):
                task.cancel()
            self.queue.close((lambda ref: self._runs[ref].cancel()) if self._abandons_waits else None)
            hand_out.cancel()
            runs = list(self._runs.values())
            if runs:
                await asyncio.wait(runs, timeout=self._settings.drain_timeout)
            for late in runs:
                late.cancel()

    def stop(self, *, abandon_waits: bool = False) -> None:
        """End `run`. `abandon_waits`: at once for runs that wait for a store, which the next run repeats."""
        self._abandons_waits = self._abandons_waits or abandon_waits
        self._stopping.set()

    async def wait_idle(self) -> None:
        """Wait until every event is taken in and nothing is ready or running; future timers do not count."""
        await self.synced.wait()
        while True:
            await self._home.announced()
            if self._waker.has_backlog:
                await asyncio.sleep(0)
            elif self.queue.idle:
                return
            else:
                await self.queue.quiet()

    def refresh(self, ref: ObjectRef, *, asked: bool = True) -> bool:
        """Run an object now, ahead of the periodic ones. False where there is none.

        `asked`: an operator wants it, so that a login that was refused is tried again.
        """
        known = self._inventory.get(ref) is not None and ref.group_kind in self._reconcilers
        if known:
            self._waker.wake(ref, urgent=True, asked=asked)
        return known

    def recheck(self, ref: ObjectRef, seconds: float) -> None:
        """Run an object in so many seconds, unless it runs now or failed: a retry is to come then."""
        if not (ref in self._failures or self.queue.is_running(ref)) and self._waker.is_ours(ref):
            self.queue.add_at(ref, self._clock.now() + seconds, lanes=self._waker.lanes(ref))

    def reachability_changed(self, store: ObjectRef, seconds: float) -> None:
        """Run a store whose calls began or ceased to be answered, in so many seconds, unless it runs now."""
        if seconds:
            self.recheck(store, seconds)
        elif not self.queue.is_running(store):
            self.refresh(store, asked=False)

    def requeue_all(self) -> None:
        """Run every object once more."""
        self._waker.wake_all()

    def failures(self, ref: ObjectRef) -> int:
        """How often in a row the object has failed."""
        return self._failures.get(ref, 0)

    def unreported(self, ref: ObjectRef) -> LastError | None:
        """The error with which the last run ended without a status; None if the status says how it ended."""
        return self._unreported.get(ref)

    def held_back(self, ref: ObjectRef) -> Sequence[HeldWrite]:
        """The writes of an object's last run that were held back."""
        return self.held.of(ref)

    @property
    def failing(self) -> AbstractSet[ObjectRef]:
        """The objects that failed at their last run."""
        return self._failures.keys()

    def due(self, ref: ObjectRef) -> float | None:
        """When the next run of the object is due; None if no time is set."""
        return self.queue.due(ref)

    def _jumped(self, seconds: float) -> None:
        """Requeue everything after a jump back: due times lie further ahead than any interval then."""
        self._observer.clock_jumped(seconds)
        if seconds < 0:
            self.requeue_all()

    # ----------------------------------------------------------------------------------------------- events
    async def _listen(self) -> None:
        async with aclosing(self._home.watch()) as events:
            self._waker.start()
            count = 0
            async for event in events:
                self._waker.on_event(event)
                count += 1
                if count % EVENTS_AT_ONCE == 0:  # a list of a hundred thousand must not hold up the loop
                    await asyncio.sleep(0)
        raise SourceEnded

    async def _follow_ownership(self) -> None:
        while True:
            await self._home.ownership_changed()
            self._leave_to_others(*self._owed, *self._failures)
            self._waker.reassign()
            if self._runs:
                self._loop.call_later(LAST_RUNS, self._end_runs_of_others)
            if self.held.has_ended():
                self.requeue_all()

    def _end_runs_of_others(self) -> None:
        """Cancel runs of objects that another replica has been acting on for a while: a store may hang."""
        for ref, task in self._runs.items():
            if not self._home.owns(ref):
                task.cancel()

    def _leave_to_others(self, *refs: ObjectRef) -> None:
        """Forget the results of runs of objects that another replica owns now: it reports its own."""
        for ref in refs:
            if not self._home.owns(ref):
                for known in (self._owed, self._failures, self._conflicts):
                    known.pop(ref, None)

    # ------------------------------------------------------------------------------------------------ runs
    async def _hand_out(self, group: asyncio.TaskGroup) -> None:
        """Start runs as the queue gives them out, a few in each turn of the loop.

        Runs that are started together continue in the same turns of the loop: thousands of them would delay
        everything else, such as the answer to a probe.
        """
        for number in count(1):
            try:
                item = await self.queue.get()
            except QueueClosed:
                return
            self._runs[item.ref] = group.create_task(self._run(item), name=f"reconcile {item.ref}")
            if number % _STARTED_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _run(self, item: QueueItem) -> None:
        ref = item.ref
        if not self._waker.is_ours(ref):  # no longer, since it was queued
            del self._runs[ref]
            self.queue.done(ref)
            return
        begin = self._loop.time()
        request = self._waker.run_begins(ref)
        since, asked_at, urgent = request or RunRequest(item.since)
        run = CurrentRun(self.queue, ref, since, asked_at)
        current_run.set(run)
        try:
            outcome = await self._outcome(ref, urgent=urgent)
            seconds = self._loop.time() - begin
            if outcome is None:
                self._observer.repeats(Repeat(ref, item.waited, seconds))
            else:
                self._conclude(item, outcome, seconds)
                if not outcome.pending:
                    self._waker.is_decided(ref)
        finally:
            if run.answers.shares:
                run.answers.end()
            self._waker.run_ends(ref)
            del self._runs[ref]
            self.queue.done(ref)
            self._leave_to_others(ref)

    async def _outcome(self, ref: ObjectRef, *, urgent: bool) -> Outcome | None:
        """The outcome of a run; None if it is to be repeated at once."""
        writes = self._writes_of(ref, urgent=urgent)
        try:
            await self._home.check_durable()
            if ref in self._owed:
                await writes.settle_status(ref)
            outcome = await self._reconcilers[ref.group_kind].reconcile(ref, writes)
            writes.check_waits(outcome)
            self._unreported.pop(ref, None)
        except HeldBack:
            interval = self._interval(ref)
            outcome = Outcome(self._clock.now() + interval if interval else None)
        except Conflict as error:
            conflicts = self._conflicts[ref] = self._conflicts.get(ref, 0) + 1
            if self._retry.is_immediate(error, conflicts):
                self._waker.wake(ref, urgent=True)
                return None
            outcome = self._raised(ref, error)
        except Forbidden:
            outcome = Outcome()  # its namespace is being deleted: that is no failure, and needs no retry
        except (SyncError, HomeError) as error:
            outcome = self._raised(ref, error)
        except Exception as error:  # noqa: BLE001  # the one edge where bugs are caught
            invalid = isinstance(error, msgspec.ValidationError)
            unreadable = unreadable_object(self._inventory.get(ref)) if invalid else None
            if unreadable is not None:
                return self._raised(ref, unreadable)
            kind = type(error).__name__
            frames = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
            places = (f"{PurePath(code.co_filename).name}:{line} in {code.co_name}" for code, line in frames)
            self._observer.bug(ref, kind, tuple(places))
            bug = Bug(f"internal error: {kind}", hint="please report it")
            outcome = Outcome(failure=self._not_reported(ref, bug))
        self._conflicts.pop(ref, None)
        if isinstance(writes, HeldWrites) and self.held.put(ref, writes.held):
            self._observer.held_back(ref, writes.held)
        return outcome

    def _writes_of(self, ref: ObjectRef, *, urgent: bool) -> Writes:
        writes = (HeldWrites if self.held.is_on else Writes)(
            ref,
            home=self._home,
            inventory=self._inventory,
            recorder=self._waker,
            gate=self._gate,
            owed=self._owed,
            urgent=urgent,
        )
        if isinstance(writes, HeldWrites):
            writes.begin(self.held)
        return writes

    def _raised(self, ref: ObjectRef, error: Failure) -> Outcome:
        """The outcome of a run that could not report: it is repeated after its interval at the latest."""
        self._observer.failed(ref, error)
        seen = self._inventory.get(ref)
        if isinstance(error, Invalid) and seen is not None:  # an event, as no status could be written
            self._home.record_event(seen, warning=True, reason="UpdateFailed", message=str(error))
        interval = self._interval(ref)
        due = self._clock.now() + interval if interval else None
        return Outcome(due, failure=self._not_reported(ref, error))

    def _not_reported(self, ref: ObjectRef, error: Failure) -> Failure:
        self._unreported[ref] = last_error(error, self._clock.now())
        return error

    def _interval(self, ref: ObjectRef) -> float:
        stored = self._inventory.get(ref)
        try:
            return 0.0 if stored is None else stored.as_type(Periodic).spec.interval
        except msgspec.ValidationError:
            return 0.0  # its own run says what is wrong with it

    def _conclude(self, item: QueueItem, outcome: Outcome, seconds: float) -> None:
        ref = item.ref
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
        if due is not None and self._waker.is_ours(ref):
            self.queue.add_at(ref, due, lanes=self._waker.lanes(ref))
        self._observer.ran(
            Run(
                ref=ref,
                lane=item.lane,
                waited=item.waited,
                seconds=seconds,
                failure=outcome.failure,
                failures=failures,
                next_due=due,
            )
        )
        if gone and outcome.failure is None:
            self._waker.forget(ref)
            self.held.put(ref, ())
            self._owed.pop(ref, None)
            self._observer.removed(ref)

    def __repr__(self) -> str:
        return f"<Engine {self.queue!r} failing={len(self._failures)}>"
