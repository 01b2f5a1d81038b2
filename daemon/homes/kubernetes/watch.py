"""All streams of a home as one watch: each kind LISTED or UNKNOWN, then every version as it comes."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

import msgspec

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.core.ownership import MANAGED
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType
from syncret.daemon.homes.kubernetes.api import JSON, METADATA_ONLY, ApiServer
from syncret.daemon.homes.kubernetes.exporting import ExportingKind, follow_groups
from syncret.daemon.homes.kubernetes.objects import METADATA_ALONE, SECRET, gone, is_as_written, stored_of
from syncret.daemon.homes.kubernetes.other_operator.statuses import Versions
from syncret.daemon.homes.kubernetes.resources import Resource, Resources
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.daemon.homes.kubernetes.streams import Raw, Stream, is_older

MOST_WAITING = 1000
"""Events that may wait for the reader; if there are more, the streams wait, and so does the server."""


class ClusterWatch(AsyncIterator[WatchEvent]):
    """One watcher's events. Close it with `aclose`."""

    def __init__(
        self,
        api: ApiServer,
        resources: Resources,
        *,
        scope: Scope,
        intact: dict[ObjectRef, str],
        present: set[ObjectRef],
        on_unknown: Callable[[GroupKind, str], None],
        versions: Versions,
    ) -> None:
        """`intact` gets the version of each Secret that is as written; `present` loses those announced."""
        self._api = api
        self._resources = resources
        self._scope = scope
        self._on_unknown = on_unknown
        self.versions = versions
        self._buffer: deque[WatchEvent] = deque()
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._drained = asyncio.Event()
        self._closed = False
        self._secrets = _Secrets(self, api, intact, present)
        self._streams: dict[tuple[GroupKind, bool], Stream] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._exporting: dict[GroupKind, tuple[ExportingKind, asyncio.Task[None]]] = {}
        self._look_for_kinds = asyncio.Event()
        if scope.exporting:
            following = follow_groups(
                resources, scope.exporting, self._follow_exporting, self._look_for_kinds
            )
            self._tasks.append(asyncio.create_task(following, name="home: kinds that may export"))

    def follow(self, kind: GroupKind) -> None:
        """Watch one more kind, or those of its objects that the scope selects."""
        if kind == SECRET and self._scope.chosen is None:
            self._start((kind, True), labels=f"{MANAGED}=true", receiver=self._secrets.managed)
            self._start((kind, False), labels=f"{MANAGED}!=true", receiver=self._secrets.others)
        else:
            selected = self._scope.of(kind)
            whole = self._scope.chosen is not None and not selected.head
            receiver = _Kind(self, kind, whole=whole, is_selected=bool(selected.labels))
            self._start((kind, False), receiver=receiver, labels=selected.labels)

    async def _follow_exporting(self, kinds: Collection[GroupKind]) -> None:
        """Watch these kinds, and no longer those that are not served any more."""
        for kind in [each for each in self._exporting if each not in kinds]:
            receiver, task = self._exporting.pop(kind)
            self._tasks.remove(task)
            task.cancel()
            await asyncio.wait([task])
            del self._streams[kind, False]
            await receiver.ended()
            self._on_unknown(kind, "")
        for kind in kinds:
            if kind not in self._exporting:
                receiver = ExportingKind(self, kind)
                self._start((kind, False), receiver=receiver)
                self._exporting[kind] = receiver, self._tasks[-1]

    def _start(
        self,
        key: tuple[GroupKind, bool],
        *,
        receiver: "_Kind | _HalfOfSecrets | ExportingKind",
        labels: str = "",
    ) -> None:
        selected = self._scope.of(key[0])
        stream = Stream(
            self._api,
            self._resources,
            key[0],
            receiver,
            namespace="" if selected.everywhere else self._scope.namespace,
            labels=labels,
            metadata_only=selected.head or (key[0] in METADATA_ALONE and key != (SECRET, True)),
        )
        receiver.stream = stream
        self._streams[key] = stream
        self._tasks.append(asyncio.create_task(stream.run(), name=f"home: watch {key[0]}"))

    def retry_unknown(self, kinds: Collection[GroupKind] | None) -> None:
        """Ask at once for these kinds (None: for all) if they could not be watched; and which may export."""
        self._look_for_kinds.set()
        for (kind, _), stream in tuple(self._streams.items()):
            if kinds is None or kind in kinds:
                stream.retry_now.set()

    def lacks_secret(self, ref: ObjectRef) -> bool:
        """Whether both streams of Secrets are current, and neither has announced this one."""
        halves = self._halves_of_secrets
        return bool(halves) and all(each.is_current and ref not in each.known for each in halves)

    def is_to_announce(self, ref: ObjectRef) -> bool:
        """Whether a Secret that exists has still to be announced by one of the two streams."""
        halves = self._halves_of_secrets
        return bool(halves) and all(ref not in each.known for each in halves)

    @property
    def _halves_of_secrets(self) -> Sequence[Stream]:
        """None where only chosen objects are followed."""
        if (SECRET, True) not in self._streams:
            return ()
        return self._secrets.managed.stream, self._secrets.others.stream

    @property
    def streams(self) -> Collection[Stream]:
        """One for each kind that is followed; of Secrets there are two."""
        return self._streams.values()

    def has_delivered(self, kind: GroupKind, version: str) -> bool:
        """Whether the reader knows all objects of the kind as they were when that version was written."""
        if not all(stream.has_reached(version) for stream in self.streams if stream.kind == kind):
            return False
        return all(event.group_kind != kind for event in self._buffer)

    @property
    def is_closed(self) -> bool:
        """Whether it was ended."""
        return self._closed

    # ------------------------------------------------------------------------------------------------ reading
    async def __anext__(self) -> WatchEvent:
        while not self._buffer:
            if self._closed:
                raise StopAsyncIteration
            for task in self._tasks:
                if task.done():
                    task.result()  # a stream never ends: this raises why it did
            self._drained.set()
            self._arrived.clear()
            await self._arrived.wait()
        self._drained.clear()
        event = self._buffer.popleft()
        self._room.set()
        return event

    def __aiter__(self) -> "ClusterWatch":
        return self

    async def aclose(self) -> None:
        """End all streams."""
        self._closed = True
        self._buffer.clear()
        self._arrived.set()
        self._drained.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*tuple(self._tasks), return_exceptions=True)

    async def caught_up(self, marks: Mapping[tuple[GroupKind, bool], str]) -> None:
        """Return once every event up to these versions was read, and the reader waits for more."""
        for key, version in tuple(marks.items()):  # others write meanwhile
            stream = self._streams.get(key)
            while stream is not None and not self._closed and not stream.has_reached(version):
                stream.moved.clear()
                await stream.moved.wait()
        await self._drained.wait()

    async def found(self, resource: Resource, ref: ObjectRef) -> StoredObject | None:
        """An object that left a stream, as it is now. Raises HomeError; it is announced again."""
        accept = METADATA_ONLY if ref.group_kind in METADATA_ALONE else JSON
        answer = await self._api.read(resource.path_to(ref), doing=f"reading {ref}", accept=accept)
        return None if answer is None else stored_of(resource, msgspec.json.decode(answer.body), whole=True)

    # ---------------------------------------------------------------------------------------------- receiving
    async def put(self, type_: WatchEventType, kind: GroupKind, stored: StoredObject | None = None) -> None:
        """Hand one event to the reader, once it has room for it."""
        while len(self._buffer) >= MOST_WAITING:
            self._room.clear()
            await self._room.wait()
        self._buffer.append(WatchEvent(type_, kind, stored))
        self._drained.clear()
        self._arrived.set()

    async def lose(self, kind: GroupKind, why: str) -> None:
        """The kind cannot be watched now."""
        self._on_unknown(kind, why)
        await self.put(WatchEventType.UNKNOWN, kind)

    async def list_(self, kind: GroupKind) -> None:
        """All objects of the kind that existed have been handed over."""
        self._on_unknown(kind, "")
        self.versions.listed(kind)
        await self.put(WatchEventType.LISTED, kind)


class _Kind:
    """Passes the events of one stream on unchanged."""

    stream: Stream

    def __init__(self, watch: ClusterWatch, kind: GroupKind, *, whole: bool, is_selected: bool) -> None:
        """`whole`: with `managedFields` and all metadata. `is_selected`: by a label."""
        self._watch = watch
        self._kind = kind
        self._whole = whole
        self._is_selected = is_selected and whole

    async def changed(self, resource: Resource, raw: Raw, *, is_new: bool) -> None:
        document = msgspec.json.decode(raw)
        self._watch.versions.saw(self._kind, document)
        stored = stored_of(resource, document, whole=self._whole)
        type_ = WatchEventType.ADDED if is_new else WatchEventType.MODIFIED
        await self._watch.put(type_, self._kind, stored)

    async def deleted(self, resource: Resource, ref: ObjectRef, uid: str, version: str) -> None:
        if self._is_selected:
            left = await self._watch.found(resource, ref)
            if left is not None and left.uid == uid:  # it has lost the label by which it is watched
                await self._watch.put(WatchEventType.MODIFIED, self._kind, left)
                return
        self._watch.versions.gone(ref)
        await self._watch.put(WatchEventType.DELETED, self._kind, gone(ref, uid, version))

    async def listed(self) -> None:
        await self._watch.list_(self._kind)

    async def unknown(self, why: str) -> None:
        await self._watch.lose(self._kind, why)


class _Secrets:
    """Two streams for all Secrets: those marked as managed with their data, of others only the metadata."""

    def __init__(
        self,
        watch: ClusterWatch,
        api: ApiServer,
        intact: dict[ObjectRef, str],
        present: set[ObjectRef],
    ) -> None:
        self.present = present
        self.watch = watch
        self.api = api
        self.intact = intact
        self.managed = _HalfOfSecrets(self, marked=True)
        self.others = _HalfOfSecrets(self, marked=False)
        self.managed.other, self.others.other = self.others, self.managed

    async def listed(self) -> None:
        if self.managed.stream.is_listed and self.others.stream.is_listed:
            await self.watch.list_(SECRET)


class _HalfOfSecrets:
    """Receives one of the two streams.

    DELETED there has two meanings: the Secret is gone, or its label changed and the other stream has it. If
    that one has not announced it yet, the Secret is read by its name.
    """

    stream: Stream
    other: "_HalfOfSecrets"

    def __init__(self, secrets: _Secrets, *, marked: bool) -> None:
        self._secrets = secrets
        self._marked = marked

    async def changed(self, resource: Resource, raw: Raw, *, is_new: bool) -> None:
        document = msgspec.json.decode(raw)
        is_intact = self._marked and is_as_written(document)
        stored = stored_of(resource, document)
        if is_intact:
            self._secrets.intact[stored.ref] = stored.resource_version
        elif self._marked:
            self._secrets.intact.pop(stored.ref, None)
        self._secrets.present.discard(stored.ref)
        is_new = is_new and stored.ref not in self.other.stream.known
        type_ = WatchEventType.ADDED if is_new else WatchEventType.MODIFIED
        await self._secrets.watch.put(type_, SECRET, stored)

    async def deleted(self, resource: Resource, ref: ObjectRef, uid: str, version: str) -> None:
        if self._marked:
            self._secrets.intact.pop(ref, None)
        self._secrets.present.discard(ref)
        known = self.other.stream.known.get(ref)
        if known is not None and known.uid == uid and not is_older(known.version, version):
            return
        moved = await self._found(resource, ref)
        if moved is None or moved.uid != uid:
            await self._secrets.watch.put(WatchEventType.DELETED, SECRET, gone(ref, uid, version))
        else:
            await self._secrets.watch.put(WatchEventType.MODIFIED, SECRET, moved)

    async def _found(self, resource: Resource, ref: ObjectRef) -> StoredObject | None:
        answer = await self._secrets.api.read(
            resource.path_to(ref), doing=f"reading {ref}", accept=METADATA_ONLY
        )
        return None if answer is None else stored_of(resource, msgspec.json.decode(answer.body))

    async def listed(self) -> None:
        await self._secrets.listed()

    async def unknown(self, why: str) -> None:
        await self._secrets.watch.lose(SECRET, why)
