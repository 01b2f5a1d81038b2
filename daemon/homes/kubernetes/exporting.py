"""Watches the resources of other operators that may have exports.

Kinds come and go with their CRDs, so the API server is asked for them from time to time. Only the parts of a
spec that define exports are kept; of a resource without exports, only its name.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Final, Protocol

import msgspec

from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.config.resources.exporting import EXPORT_LISTS
from syncret.daemon.homes.contract import HomeError, StoredObject, WatchEventType
from syncret.daemon.homes.kubernetes.objects import gone, stored_of
from syncret.daemon.homes.kubernetes.resources import Resource, Resources
from syncret.daemon.homes.kubernetes.streams import Raw, Stream

AGAIN: Final = 30.0
"""Seconds after which the API server is asked again for what it serves."""

_KEPT: Final = ("operatorSpec", "writeConnectionSecretToRef")
"""The members of a spec that are kept."""

_HEAD: Final = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")


class Sink(Protocol):
    """Takes the events of one kind."""

    async def put(self, type_: WatchEventType, kind: GroupKind, stored: StoredObject | None = None) -> None:
        """Hand one event to the reader."""
        ...

    async def lose(self, kind: GroupKind, why: str) -> None:
        """The kind cannot be watched now."""
        ...

    async def list_(self, kind: GroupKind) -> None:
        """All objects of the kind that existed have been handed over."""
        ...


class ExportingKind:
    """Receives the stream of one kind, and keeps of its objects what exports need."""

    stream: Stream

    def __init__(self, sink: Sink, kind: GroupKind) -> None:
        self._sink = sink
        self._kind = kind

    async def changed(self, resource: Resource, raw: Raw, *, is_new: bool) -> None:
        type_ = WatchEventType.ADDED if is_new else WatchEventType.MODIFIED
        await self._sink.put(type_, self._kind, slim(resource, msgspec.json.decode(raw)))

    async def deleted(self, resource: Resource, ref: ObjectRef, uid: str, version: str) -> None:
        del resource
        await self._sink.put(WatchEventType.DELETED, self._kind, gone(ref, uid, version))

    async def listed(self) -> None:
        await self._sink.list_(self._kind)

    async def unknown(self, why: str) -> None:
        await self._sink.lose(self._kind, why)

    async def ended(self) -> None:
        """The server has the kind no longer, and so none of its objects."""
        for ref, known in tuple(self.stream.known.items()):
            await self._sink.put(WatchEventType.DELETED, self._kind, gone(ref, known.uid, known.version))


def slim(resource: Resource, document: Document) -> StoredObject:
    """The object as it is kept. Every change of it may matter, so it has no generation."""
    metadata, spec = document["metadata"], member(document, "spec")
    if any(member(spec, "operatorSpec").get(each) for each in EXPORT_LISTS):
        kept: Document = {"metadata": metadata, "spec": {name: spec[name] for name in _KEPT if name in spec}}
        if "status" in document:
            kept["status"] = document["status"]
    else:
        kept = {"metadata": {name: metadata[name] for name in _HEAD if name in metadata}}
    return msgspec.structs.replace(stored_of(resource, kept), generation=0)


async def follow_groups(
    resources: Resources,
    groups: Collection[str],
    follow: Callable[[Collection[GroupKind]], Awaitable[None]],
    retry_now: asyncio.Event,
) -> None:
    """Call `follow` with all kinds of these groups, whenever they have changed; until cancelled.

    While the server cannot be reached, it is not called, so that no kind is dropped because of that.
    """
    known: frozenset[GroupKind] | None = None
    while True:
        try:
            kinds = frozenset(await resources.watchable(groups))
        except HomeError:
            kinds = frozenset[GroupKind]() if known is None else known
        if kinds != known:
            await follow(kinds)
            known = kinds
        retry_now.clear()
        try:
            async with asyncio.timeout(AGAIN):
                await retry_now.wait()
        except TimeoutError:
            continue
