"""Keeps every object reconciled: takes in changes, decides who runs next, runs them, and plans the next look.

Source -> inventory -> queue -> reconciler -> queue. Each run is a named task of one TaskGroup; a bug in one
run is caught at its edge and counted, while a failing source or queue takes the whole engine down, for its
supervisor to start it anew: an engine that no longer hears of changes must not look alive.
"""

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import aclosing
from pathlib import PurePath
from sys import intern
from traceback import walk_tb
from types import TracebackType
from typing import Final

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.inventory import Inventory, OwnWrites, is_status_only
from syncret.daemon.engine.observer import NullObserver, Observer, Run
from syncret.daemon.engine.queue.workqueue import QueueClosed, QueueItem, WorkQueue
from syncret.daemon.engine.reconciler import Failure, Outcome, Reconciler
from syncret.daemon.engine.retry import Backoff
from syncret.daemon.engine.sessions.read_batching import due_since
from syncret.daemon.homes.contract import (
    Conflict,
    HomeError,
    Source,
    StoredObject,
    WatchEvent,
    WatchEventType,
)
from syncret.providers.errors import SyncError, Throttled

MAX_URGENT_DEPENDENTS: Final = 100
"""So many dependents pass ahead of periodic work; more would be a herd that keeps changes waiting."""

MAX_CONFLICT_RETRIES: Final = 5
"""Conflicts in a row that are run again at once; further ones wait like any failure."""

EVENTS_AT_ONCE: Final = 100
"""Events, or objects that one of them wakes, that are dealt with before the loop may turn."""

CALM: Final = 5
"""Turns of the loop without work after which all counts as settled: an event needs two to get through."""


class SourceEnded(Exception):
    """The home tells of no more changes, although nobody asked it to stop."""


class Bug(SyncError):
    """A run ended by an exception that is no failure of a store or home."""


class Engine:
    """The loop around the reconcilers. Everything about it happens on one event loop."""

    def __init__(
        self,
        source: Source,
        reconcilers: Iterable[Reconciler],
        *,
        inventory: Inventory,
        clock: Clock,
        settings: Settings,
        observer: Observer | None = None,
        listeners: Iterable[Callable[[WatchEvent], None]] = (),
    ) -> None:
        self.queue = WorkQueue(clock, lane_cap=settings.store_workers)
        self.synced = asyncio.Event()
        self.first_pass = asyncio.Event()
        self._source = source
        self._reconcilers: dict[GroupKind, Reconciler] = {}
        for reconciler in reconcilers:
            self._reconcilers[reconciler.group_kind] = reconciler
            inventory.learn(reconciler.group_kind, reconciler.dependencies)
        self._inventory = inventory
        self._clock = clock
        self._settings = settings
        self._observer = observer or NullObserver()
        self._listeners = tuple(listeners)
        self._backoff = Backoff(settings.retry_min, settings.retry_max)
        self._echoes = OwnWrites()
        self._events_during_run: dict[ObjectRef, list[tuple[ObjectRef, str]]] = {}
        """For each object that is being run, what it would be woken by but for that."""
        self._requested_at: dict[ObjectRef, float] = {}
        """When a run was last asked for by an event, until it begins."""
        self._lanes: dict[ObjectRef, str] = {}
        self._failures: dict[ObjectRef, int] = {}
        self._conflicts: dict[ObjectRef, int] = {}
        self._first: set[ObjectRef] = set()
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
            hand_out = group.create_task(self._hand_out(group, runs), name="engine: hand out")
            await self._stopping.wait()
            listen.cancel()
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
        calm, pauses = 0, self._pauses
        while calm < CALM:
            if self.queue.idle and pauses == self._pauses:
                calm += 1
                await asyncio.sleep(0)
            else:
                calm, pauses = 0, self._pauses
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

    def wrote(self, ref: ObjectRef, version: str, writer: ObjectRef) -> None:
        """A run of `writer` wrote this version of `ref`: the echo need not wake `writer` again."""
        heard = self._events_during_run.get(writer, [])
        if (ref, version) in heard:
            heard.remove((ref, version))
        else:
            self._echoes.record(ref, version, writer)

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
        async with aclosing(self._source.watch()) as changes:
            events = 0
            async for change in changes:
                for listener in self._listeners:
                    listener(change)
                if change.object is None:
                    await self._on_listed()
                else:
                    await self._on_event(change, change.object)
                events += 1
                if events % EVENTS_AT_ONCE == 0:
                    await self._pause()
        raise SourceEnded

    async def _pause(self) -> None:
        """Let the loop turn: a list of a hundred thousand must not hold up the rest of the daemon."""
        self._pauses += 1
        await asyncio.sleep(0)

    async def _on_event(self, change: WatchEvent, stored: StoredObject) -> None:
        before = self._inventory.apply(change)
        ref = stored.ref
        gone = change.type is WatchEventType.DELETED
        drifted = (
            change.type is WatchEventType.DRIFTED
        )  # never an echo, although its version may be a run's own
        writer = None if gone or drifted else self._echoes.match(stored)
        reconciler = self._reconcilers.get(ref.group_kind)
        if gone:
            self._echoes.forget(ref)
        if reconciler is not None and not gone and (before is None or not stored.has_same_generation(before)):
            self._lanes[ref] = intern(reconciler.store_lane(ref, self._inventory.dependencies(ref)))
        if not self.synced.is_set():
            return  # all that exists is looked at once the list is complete
        version = "" if drifted else stored.resource_version
        if reconciler is not None and ref != writer and (gone or not is_status_only(before, stored)):
            self._notify(ref, ref, version, urgent=True)
        dependents = [each for each in self._inventory.dependents(ref) if each not in (ref, writer)]
        for count, dependent in enumerate(dependents, start=1):
            self._notify(dependent, ref, version, urgent=len(dependents) <= MAX_URGENT_DEPENDENTS)
            if count % EVENTS_AT_ONCE == 0:
                await self._pause()

    async def _on_listed(self) -> None:
        """Look at everything once, first at what others depend on: nobody then waits for a store in vain."""
        self._first = set(self._lanes)
        self._observer.listed(len(self._first))
        for count, ref in enumerate(list(self._lanes), start=1):
            self._wake(ref, urgent=any(True for _ in self._inventory.dependents(ref)))
            if count % EVENTS_AT_ONCE == 0:
                await self._pause()
        self.synced.set()
        self._note_first_pass(None)

    def _notify(self, listener: ObjectRef, ref: ObjectRef, version: str, *, urgent: bool) -> None:
        """A version of `ref` ("": drift) concerns the listener. While that runs it may be its own write."""
        heard = self._events_during_run.get(listener)
        if heard is None:
            self._wake(listener, urgent=urgent)
        else:
            heard.append((ref, version))

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
        """Start runs, so many at once; none before everything that exists is known."""
        await self.synced.wait()
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
        due_since.set(self._requested_at.pop(ref, begin - ticket.waited))
        self._events_during_run[ref] = []
        try:
            outcome = await self._outcome(ref)
            if outcome is not None:
                self._conclude(ticket, outcome, self._loop.time() - begin)
                if not outcome.pending:
                    self._note_first_pass(ref)
        finally:
            if self._events_during_run.pop(ref):
                self._wake(ref, urgent=True)
            self.queue.done(ref)

    async def _outcome(self, ref: ObjectRef) -> Outcome | None:
        """What the run came to; None where it is to be run again at once."""
        try:
            outcome = await self._reconcilers[ref.group_kind].reconcile(ref)
        except Conflict as error:
            conflicts = self._conflicts[ref] = self._conflicts.get(ref, 0) + 1
            if conflicts <= MAX_CONFLICT_RETRIES:
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
        now = self._clock.now()
        due = None if gone else outcome.next_due
        if due is not None and due <= now:
            due = now + self._settings.retry_min  # it has just run: at once again would be for ever
        if outcome.failure is None:
            self._failures.pop(ref, None)
        else:
            failures = self._failures[ref] = self._failures.get(ref, 0) + 1
            chance = random.random() if self._settings.spread else 0.0  # noqa: S311  # a pause is no secret
            retry = now + self._backoff.pause(failures, outcome.failure, chance=chance)
            due = retry if due is None or isinstance(outcome.failure, Throttled) else min(due, retry)
        if due is not None:
            self.queue.add_at(ref, due, lane=self._lanes.get(ref, ""))
        self._observer.ran(
            Run(
                ref=ref,
                lane=ticket.lane,
                waited=ticket.waited,
                seconds=seconds,
                failure=outcome.failure,
                failures=self._failures.get(ref, 0),
                next_due=due,
            )
        )
        if gone and outcome.failure is None:
            self._lanes.pop(ref, None)
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
