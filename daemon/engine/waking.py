"""Takes in changes of the home, and wakes the objects that they concern."""

import asyncio
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from math import inf
from typing import Final, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import role_of
from syncret.daemon.engine.first_pass import FirstPass, is_delivery
from syncret.daemon.engine.inventory import Change, Inventory
from syncret.daemon.engine.observer import Observer
from syncret.daemon.engine.queue.fair_queue import Lanes, lanes_of
from syncret.daemon.engine.queue.workqueue import WorkQueue
from syncret.daemon.engine.reconciler import OBJECT, Reconciler
from syncret.daemon.homes.contract import Home, StoredObject, WatchEvent, WatchEventType

MAX_URGENT_DEPENDENTS: Final = 100
"""Up to so many dependents of a change are urgent; more would delay other changes."""

EVENTS_AT_ONCE: Final = 100
"""Events, or objects that one of them wakes, that are dealt with before the loop may turn."""


ITSELF: Final = int(OBJECT)
"""A change of that is a reason to run the object itself."""


def has_role(kind: GroupKind) -> bool:
    """Whether runs look the kind up."""
    return role_of(kind) is not None


ReconcilerOf: TypeAlias = Callable[[GroupKind], Reconciler | None]
"""The reconciler of a kind that is none of ours, if it has one."""


def none_else(kind: GroupKind) -> Reconciler | None:
    """Only the kinds that are given have one."""
    del kind
    return None


class RunRequest(NamedTuple):
    """When events last asked for a run, and when an operator or a change of the object itself did."""

    since: float
    asked_at: float = -inf
    urgent: bool = False
    """Whether it goes before periodic runs and those of the start; its writes, too."""


_NO_REQUEST: Final = RunRequest(-inf)


class Listener(Protocol):
    """Is notified of every new version of the objects whose kinds concern it."""

    def concerns(self, kind: GroupKind) -> bool:
        """Whether it is notified of objects of this kind."""
        ...

    def notice(self, event: WatchEvent, /) -> None:
        """Take in one version."""
        ...


AddListener: TypeAlias = Callable[[Listener, Iterable[GroupKind]], None]
"""Adds a listener, and notifies it of the objects of these kinds that are known already."""


class _Version(Struct, frozen=True):
    """A change that concerns an object: its own, or one of what it depends on."""

    change: Change
    version: tuple[ObjectRef, str]
    """Whose, and the resource version."""
    since: float
    """When it became known, in the loop's time."""
    is_own: bool

    def wakes(self) -> bool:
        """Whether it is a reason to run. A change of the object itself is not decoded before it must be.

        The status of a kind that is none of ours is not written by runs: any change of it is a reason.
        """
        if not self.is_own or role_of(self.change.ref[:2]) is None:
            return True
        return bool(int(self.change.on) & ITSELF)


class Waker:
    """Between the home and the queue: versions come in from the watch and from the runs' own writes.

    Each goes into the inventory; the object and the dependents that it concerns are queued. A run's own
    write does not wake the run.
    """

    def __init__(
        self,
        home: Home,
        reconcilers: dict[GroupKind, Reconciler],
        *,
        inventory: Inventory,
        queue: WorkQueue,
        observer: Observer,
        listeners: Iterable[Listener],
        awaits: Callable[[GroupKind], bool] = has_role,
        others: ReconcilerOf = none_else,
    ) -> None:
        """Runs begin once each kind that it `awaits` is listed, or known not to be there.

        `reconcilers` grow by those of `others`, for kinds that are known once an object of them is met.
        """
        self.first_pass = FirstPass(observer.first_pass)
        self._home = home
        self._owns = home.owns
        self._reconcilers = reconcilers
        for kind, reconciler in reconcilers.items():
            inventory.learn(kind, reconciler.dependencies)
        self._met: set[GroupKind] = set(reconcilers)
        self._others = others
        self._inventory = inventory
        self._queue = queue
        self._observer = observer
        self._listeners = tuple(listeners)
        self._awaits = awaits
        self._notice_of: dict[tuple[str, str], tuple[Callable[[WatchEvent], None], ...]] = {}
        """The listeners of each kind of which there was an object."""
        self._listed: set[GroupKind] = set()
        self._has_started = False
        self._events_during_run: dict[ObjectRef, list[_Version]] = {}
        """For each object that is being run, the versions that may wake it: they may be its own writes."""
        self._requests: dict[ObjectRef, RunRequest] = {}
        """Why a run was asked for, until it begins."""
        self._lanes: dict[ObjectRef, Lanes] = {}
        self._not_ours: set[ObjectRef] = set()
        """Objects that other replicas own: known here, as dependencies are, and not run."""
        self._backlog: deque[Iterator[None]] = deque()
        """Objects still to be woken, where there are too many of them for one turn of the loop."""
        self._has_backlog = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @property
    def has_backlog(self) -> bool:
        """Whether objects are still to be woken."""
        return bool(self._backlog)

    def lanes(self, ref: ObjectRef) -> Lanes:
        """The stores and generators whose calls the object waits for."""
        return self._lanes.get(ref, ())

    def wake(self, ref: ObjectRef, *, urgent: bool, since: float | None = None, asked: bool = False) -> None:
        """Queue an object that is ours; `since` is when the run was asked for, if that is not now.

        `asked`: by an operator, or by a change of the object itself.
        """
        if not self.is_ours(ref):
            return
        if since is None:
            since = self._loop.time()
        former = self._requests.get(ref, _NO_REQUEST)
        self._requests[ref] = RunRequest(
            max(since, former.since),
            max(since, former.asked_at) if asked else former.asked_at,
            urgent or former.urgent,
        )
        self._queue.add(ref, urgent=urgent, lanes=self.lanes(ref), since=since)

    def is_ours(self, ref: ObjectRef) -> bool:
        """Whether this replica runs the object; always for one that is gone, whose run only cleans up."""
        if self._owns(ref) or self._inventory.get(ref) is None:
            return True
        self._not_ours.add(ref)
        return False

    def reassign(self) -> None:
        """Ownership has changed: queue objects that became ours, and discard those of other replicas."""
        if self._has_started:
            self._later(self._reassign_each(tuple(self._lanes), self._loop.time()))

    def _reassign_each(self, refs: Iterable[ObjectRef], since: float) -> Iterator[None]:
        for ref in refs:
            if not self.is_ours(ref):
                self._queue.discard(ref)
                self._requests.pop(ref, None)
                self.is_decided(ref)
            elif ref in self._not_ours:
                self._not_ours.discard(ref)
                self.wake(ref, urgent=False, since=since)
            yield

    def wake_all(self) -> None:
        """Queue every object, a part in each turn of the loop."""
        self._later(self._wake_each(tuple(self._lanes), self._loop.time()))

    def _wake_each(self, refs: Iterable[ObjectRef], since: float) -> Iterator[None]:
        for ref in refs:
            self.wake(ref, urgent=False, since=since)
            yield

    # ------------------------------------------------------------------------------------------------ runs
    def run_begins(self, ref: ObjectRef) -> RunRequest | None:
        """A run of the object begins. Returns the request of events for it, None if only time asked."""
        self._events_during_run[ref] = []
        request = self._requests.pop(ref, None)
        if not self._requests:
            self._requests.clear()  # or an empty dict keeps room for as many as there ever were
        return request

    def run_ends(self, ref: ObjectRef) -> None:
        """Wake the object again for events that came during the run and are not of its own writes."""
        versions = [version for version in self._events_during_run.pop(ref) if version.wakes()]
        if versions:
            since = max(version.since for version in versions)
            self.wake(ref, urgent=True, since=since, asked=any(version.is_own for version in versions))

    def is_decided(self, ref: ObjectRef) -> None:
        """The object has been run to a decision: it counts for the first pass."""
        self.first_pass.is_decided(ref)

    def forget(self, ref: ObjectRef) -> None:
        """The object is gone, and its last run is over."""
        self._lanes.pop(ref, None)
        self._not_ours.discard(ref)

    def record(self, stored: StoredObject, writer: ObjectRef | None) -> None:
        """Take in a version that a run wrote or read: nothing has to wait for its event.

        `writer` is the run's object where it knows what this version means to it.
        """
        self._discount(stored, writer)
        change = self._inventory.record(stored)
        if change is not None:
            self._on_change(change, writer)

    def is_reconciled(self, kind: GroupKind) -> bool:
        """Whether objects of this kind are run."""
        return kind in self._reconcilers

    def record_deleted(self, seen: StoredObject, writer: ObjectRef | None) -> None:
        """Take in that an object is gone."""
        self._discount(seen, writer)
        change = self._inventory.record_deleted(seen)
        if change is not None:
            self._on_change(change, writer)

    def _discount(self, stored: StoredObject, writer: ObjectRef | None) -> None:
        """Drop the event of the writer's own write, which came before the answer: it requeues nothing."""
        during = None if writer is None else self._events_during_run.get(writer)
        if during:
            made = (stored.ref, stored.resource_version)
            during[:] = [each for each in during if each.version != made]

    # -------------------------------------------------------------------------------------------- changes
    def on_event(self, event: WatchEvent) -> None:
        """Take in an event of the watch."""
        if event.object is not None and event.group_kind not in self._met:
            self._meet(event.group_kind)
        change = self._inventory.apply(event)
        if event.object is None:
            self._on_listed(event.group_kind)
        elif change is not None:
            self._on_change(change, None)

    def _meet(self, kind: GroupKind) -> None:
        """Take in a kind of which there was no object before."""
        self._met.add(kind)
        reconciler = self._others(kind)
        if reconciler is not None:
            self._reconcilers[kind] = reconciler
            self._inventory.learn(kind, reconciler.dependencies)

    def add_listener(self, listener: Listener, kinds: Iterable[GroupKind]) -> None:
        """As `AddListener` says."""
        self._listeners = (*self._listeners, listener)
        self._notice_of.clear()
        for kind in kinds:
            for stored in self._inventory.list(kind):
                listener.notice(WatchEvent(WatchEventType.ADDED, kind, stored))

    def _on_change(self, change: Change, writer: ObjectRef | None) -> None:
        """Take in a change: index it, and wake the object and its dependents that it concerns."""
        ref, before, after = change.ref, change.before, change.after
        kind = ref[:2]
        notices = self._notice_of.get(kind)
        if notices is None:
            notices = tuple(each.notice for each in self._listeners if each.concerns(ref.group_kind))
            self._notice_of[kind] = notices
        if notices:
            event = change.event()
            for notice in notices:
                notice(event)
        is_reconciled = kind in self._reconcilers
        is_new = before is None or after is None or not after.has_same_generation(before)
        if is_reconciled and after is not None and is_new:
            self._lanes[ref] = lanes_of(ref, self._inventory.dependencies(ref))
        if not self._has_started:
            return
        if is_reconciled and (ref != writer or after is None):
            version = _Version(change, (ref, change.version), self._loop.time(), is_own=True)
            self._notify(ref, version, urgent=True)
        if self._inventory.has_dependents(ref):
            self._notify_dependents(change, (ref, writer))

    def _notify_dependents(self, change: Change, but: Container[ObjectRef | None]) -> None:
        dependents = self._inventory.dependents(change.ref, change.on)
        is_herd = len(dependents) > MAX_URGENT_DEPENDENTS
        version = _Version(change, (change.ref, change.version), self._loop.time(), is_own=False)
        if is_herd:
            self._later(self._notify_herd(dependents, but, version))
            return
        for listener in dependents:
            if listener not in but:
                self._notify(listener, version, urgent=True)

    def _notify_herd(
        self, listeners: Iterable[ObjectRef], but: Container[ObjectRef | None], version: "_Version"
    ) -> Iterator[None]:
        for listener in listeners:
            if listener not in but:
                self._notify(listener, version, urgent=False)
            yield

    def _later(self, steps: Iterator[None]) -> None:
        self._backlog.append(steps)
        self._has_backlog.set()

    async def work_off_backlog(self) -> None:
        """Wake the objects of the backlog, a part in each turn of the loop."""
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
        self.start()

    def start(self) -> None:
        """Begin to run objects once all kinds are known that runs look up; others are only ever targets."""
        if self._has_started or any(
            self._awaits(kind) and kind not in self._listed for kind in self._home.kinds()
        ):
            return
        self._has_started = True
        self._later(self._first_wakes(tuple(self._lanes), self._loop.time()))

    def _first_wakes(self, refs: Iterable[ObjectRef], since: float) -> Iterator[None]:
        """Wake the objects of the start, first those that others depend on, so that none waits in vain."""
        alone: list[ObjectRef] = []
        for ref in refs:
            if self.is_ours(ref):
                self.first_pass.expect(ref)
            waited_for = self._inventory.has_dependents(ref) and self._inventory.dependents(ref)
            if waited_for or is_delivery(ref):
                self.wake(ref, urgent=True, since=since)
            else:
                alone.append(ref)
            yield
        yield from self._wake_each(alone, since)
        self._observer.listed(len(self.first_pass))
        self.first_pass.all_known()

    def _notify(self, listener: ObjectRef, version: "_Version", *, urgent: bool) -> None:
        """Run the listener for a version of an object; if it is running now, once that has ended.

        An event during a run may be that of the run's own write, whose answer is still on the way.
        """
        during = self._events_during_run.get(listener)
        if during is not None:
            during.append(version)
        elif self._has_started and version.wakes():  # else its first run is still to come
            self.wake(listener, urgent=urgent, since=version.since, asked=version.is_own)
