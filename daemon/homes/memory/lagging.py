"""The simulated cluster as a home that lags like an API server: a write is answered at once, announced later.

Delays and faults come from one random generator, and delays are those of the event loop: on virtual time the
same seed gives the same run. Reads by `get` and `list` are never stale.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.kinds import KINDS
from syncret.daemon.homes.contract import (
    Conflict,
    HomeError,
    HomeProblem,
    ManifestPlace,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
    TooManyRequests,
    WatchEvent,
    WatchEventType,
)
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.watch import Watch, event_of
from syncret.providers.contract import IssuedToken

T = TypeVar("T")


class Lag(Struct, frozen=True, kw_only=True):
    """The delays (the longest ones, in seconds) and the shares of requests and events with each fault."""

    events: float = 5.0
    answers: float = 0.5
    """How long a request is on its way, and as long again its answer."""

    outages: float = 30.0
    """How long a watch that broke is away."""

    skipped: float = 0.0
    """Events that are left out: only the next one of the object comes."""

    broken: float = 0.0
    """Events after which the watch of their kind breaks, and resumes where it was."""

    relisted: float = 0.0
    """Broken watches that cannot resume: the kind is listed anew, and objects that are missing are gone."""

    unknown: float = 0.0
    """Broken watches, and first ones, whose kind cannot be watched for a while."""

    conflicts: float = 0.0
    """Writes that are refused although there was no other write."""

    throttled: float = 0.0
    retry_after: float = 5.0
    """The longest wait that an overloaded server asks for; every third time it does not say."""

    unavailable: float = 0.0
    """Requests that are not carried out."""

    lost_answers: float = 0.0
    """Writes that were carried out, or refused, and whose answer does not come."""


class LaggingHome:
    """A home on a simulated cluster; other writers use `cluster` directly. Implements `Home`."""

    def __init__(self, cluster: MemoryCluster, *, lag: Lag, chance: Random) -> None:
        self.cluster = cluster
        self.lag = lag
        self._chance = chance

    # ------------------------------------------------------------------------------------------------- reader
    def kinds(self) -> Collection[GroupKind]:
        """All known kinds, and any other of which there is an object."""
        return {kind.group_kind for kind in KINDS} | {*self.cluster.kinds()}

    def watch(self) -> Watch:
        """A stream for each kind, each with its own delays; they come to one watcher."""
        return LaggingWatch(self.cluster, sorted(self.kinds()), lag=self.lag, chance=self._chance)

    async def announced(self) -> None:
        """Return once every watch is whole again and its reader has dealt with everything."""
        await self.cluster.announced()

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """The object as it was while the answer was made. Raises StorageUnavailable."""
        return await self._read(lambda: self.cluster.get(ref))

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """The objects as they were while the answer was made. Raises StorageUnavailable."""
        return await self._read(lambda: self.cluster.list(group_kind, namespace=namespace, selector=selector))

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """As the cluster's."""
        return self.cluster.is_unchanged(ref)

    def is_absent(self, ref: ObjectRef) -> bool:
        """As the cluster's."""
        return self.cluster.is_absent(ref)

    # ------------------------------------------------------------------------------------------------- writer
    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As the cluster's, or one of the faults of a write."""
        return await self._write(lambda: self.cluster.create(document, field_manager=field_manager))

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As the cluster's, or one of the faults of a write."""
        return await self._write(lambda: self.cluster.update(document, field_manager=field_manager))

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """As the cluster's, or one of the faults of a write."""
        return await self._write(lambda: self.cluster.set_finalizers(seen, finalizers))

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        """As the cluster's, or one of the faults of a write."""
        return await self._write(lambda: self.cluster.update_status(seen, status))

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """As the cluster's, or one of the faults of a write."""
        return await self._write(lambda: self.cluster.delete(seen))

    async def check_durable(self) -> None:
        """As the cluster's."""
        await self.cluster.check_durable()

    def may_mark(self, ref: ObjectRef) -> bool:
        """As the cluster's."""
        return self.cluster.may_mark(ref)

    # ------------------------------------------------------------------------------------------ a whole home
    @property
    def writes_at_once(self) -> int:
        """As many as serve an API server best: more bring no throughput and cost latency."""
        return 24

    def owns(self, ref: ObjectRef) -> bool:
        """As the cluster's."""
        return self.cluster.owns(ref)

    def is_behind(self, group_kind: GroupKind) -> bool:
        """As `Home` says: there is one replica."""
        del group_kind
        return False

    async def ownership_changed(self) -> None:
        """As the cluster's."""
        await self.cluster.ownership_changed()

    def problems(self) -> Sequence[HomeProblem]:
        """As the cluster's."""
        return self.cluster.problems()

    def record_event(self, seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        """As the cluster's."""
        self.cluster.record_event(seen, warning=warning, reason=reason, message=message)

    def manifest_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """As the cluster's."""
        return self.cluster.manifest_of(ref)

    async def field_place(self, ref: ObjectRef, field: str, text_line: int = 0) -> ManifestPlace | None:
        """None, as the cluster says."""
        return await self.cluster.field_place(ref, field, text_line)

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """As the cluster's."""
        return await self.cluster.issue_token(account, audiences, seconds)

    @property
    def waiting_deletions(self) -> int:
        """As the cluster's."""
        return self.cluster.waiting_deletions

    async def run(self) -> None:
        """As the cluster's."""
        await self.cluster.run()

    # ----------------------------------------------------------------------------------------------- requests
    async def _read(self, read: Callable[[], Awaitable[T]]) -> T:
        await self._travel()
        if self._happens(self.lag.unavailable):
            raise StorageUnavailable("the server is not available")
        answer = await read()
        await self._travel()
        return answer

    async def _write(self, write: Callable[[], Awaitable[T]]) -> T:
        """One write. It has happened, or was refused, before its answer begins to travel back."""
        await self._travel()
        self._refuse()
        refusal: HomeError | None = None
        answer: list[T] = []
        try:
            answer.append(await write())
        except HomeError as error:
            refusal = error
        await self._travel()
        if self._happens(self.lag.lost_answers):
            raise OutcomeUnknown("the connection was closed before the answer came")
        if refusal is not None:
            raise refusal
        return answer[0]

    def _refuse(self) -> None:
        if self._happens(self.lag.throttled):
            retry_after = None if self._happens(1 / 3) else self.lag.retry_after * self._chance.random()
            raise TooManyRequests("too many requests", retry_after=retry_after)
        if self._happens(self.lag.unavailable):
            raise StorageUnavailable("the server is not available")
        if self._happens(self.lag.conflicts):
            raise Conflict("the object has been modified; read it again")

    def _happens(self, share: float) -> bool:
        return share > 0 and self._chance.random() < share

    async def _travel(self) -> None:
        await asyncio.sleep(self.lag.answers * self._chance.random())


class LaggingWatch(Watch):
    """One watcher's events, each kind in a stream of its own. Close it with `aclose`."""

    def __init__(
        self, cluster: MemoryCluster, kinds: Collection[GroupKind], *, lag: Lag, chance: Random
    ) -> None:
        super().__init__(cluster.broadcaster, iter(()), ())
        self.cluster = cluster
        self.lag = lag
        self.chance = chance
        self._streams = {kind: _KindStream(self, kind) for kind in kinds}
        cluster.broadcaster.join(self)

    @property
    def is_drained(self) -> bool:
        """Whether no event is on its way, everything was read, and the reader waits for more."""
        return super().is_drained and not any(stream.is_busy for stream in self._streams.values())

    def send(self, change: WatchEvent) -> None:
        """Send the change, which arrives later."""
        stream = self._streams.get(change.group_kind)
        if stream is None:
            stream = self._streams[change.group_kind] = _KindStream(self, change.group_kind)
        stream.send(change)

    def deliver(self, *events: WatchEvent) -> None:
        """Let events arrive."""
        if not self._closed:
            self._buffer.extend(events)
            self._wake()
        self._broadcaster.on_drained()  # without an event no reader calls it


class _KindStream:
    """The events of one kind to one watcher: listed, followed, broken, and whole again."""

    def __init__(self, watch: LaggingWatch, kind: GroupKind) -> None:
        self._watch = watch
        self._kind = kind
        self._lag = watch.lag
        self._chance = watch.chance
        self._delivered: dict[ObjectRef, StoredObject] = {}
        self._on_the_way: dict[ObjectRef, deque[WatchEvent]] = {}
        self._is_whole = False
        if self._happens(self._lag.unknown):
            self._after(self._lag.events, self._become_unknown)
        else:
            self._after(self._lag.events, self._begin_list)

    @property
    def is_busy(self) -> bool:
        """Whether its watcher does not know everything yet."""
        return not self._is_whole or bool(self._on_the_way)

    def send(self, change: WatchEvent) -> None:
        """Send a change, with a random delay; the stream may break instead."""
        stored = change.object
        if stored is None:
            return
        line = self._on_the_way.setdefault(stored.ref, deque())
        if self._happens(self._lag.skipped):
            drifts = [event for event in line if event.type is WatchEventType.DRIFTED]
            line.clear()
            line.extend(drifts)
        line.append(change)
        if self._is_whole:
            self._arrive_later(stored.ref)
            if self._happens(self._lag.broken):
                self._break()

    def _arrive_later(self, ref: ObjectRef) -> None:
        self._after(self._lag.events, lambda: self._arrive(ref))

    def _arrive(self, ref: ObjectRef) -> None:
        """The next event of one object. While the stream is broken none arrives."""
        line = self._on_the_way.get(ref)
        if line is None or not self._is_whole:
            return
        event = line.popleft()
        if not line:
            del self._on_the_way[ref]
        self._watch.deliver(*self._for_watcher(event))

    def _for_watcher(self, event: WatchEvent) -> Sequence[WatchEvent]:
        """The event for the watcher, given what was delivered to it before."""
        stored = event.object
        if stored is None:
            return ()
        before = self._delivered.get(stored.ref)
        if event.type is WatchEventType.DELETED:
            self._delivered.pop(stored.ref, None)
            return (event,) if before is not None else ()
        if event.type is WatchEventType.DRIFTED:
            return (event,) if before is not None else ()
        self._delivered[stored.ref] = stored
        return (event_of(WatchEventType.ADDED if before is None else WatchEventType.MODIFIED, stored),)

    # ------------------------------------------------------------------------------------------------ outages
    def _break(self) -> None:
        self._is_whole = False
        if self._happens(self._lag.unknown):
            self._become_unknown()
        elif self._happens(self._lag.relisted):
            self._after(self._lag.outages, self._begin_list)
        else:
            self._after(self._lag.outages, self._resume)

    def _become_unknown(self) -> None:
        self._watch.deliver(WatchEvent(WatchEventType.UNKNOWN, self._kind))
        self._after(self._lag.outages, self._begin_list)

    def _resume(self) -> None:
        """Go on where the stream broke: changes that are on their way arrive."""
        self._is_whole = True
        for ref, line in self._on_the_way.items():
            for _ in line:
                self._arrive_later(ref)

    def _begin_list(self) -> None:
        """List all objects as they are now; changes during the delay of the answer come after it."""
        found, version = list(self._watch.cluster.snapshot(self._kind)), self._watch.cluster.version
        self._on_the_way.clear()
        self._chance.shuffle(found)
        self._after(self._lag.events, lambda: self._end_list(found, str(version)))

    def _end_list(self, found: Sequence[StoredObject], version: str) -> None:
        listed = {stored.ref for stored in found}
        gone = [stored for ref, stored in self._delivered.items() if ref not in listed]
        for stored in gone:
            last = msgspec.structs.replace(stored, resource_version=version)
            self._watch.deliver(*self._for_watcher(event_of(WatchEventType.DELETED, last)))
        for stored in found:
            self._watch.deliver(*self._for_watcher(event_of(WatchEventType.MODIFIED, stored)))
        self._watch.deliver(WatchEvent(WatchEventType.LISTED, self._kind))
        self._resume()

    def _after(self, longest: float, then: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(longest * self._chance.random(), then)

    def _happens(self, share: float) -> bool:
        return share > 0 and self._chance.random() < share
