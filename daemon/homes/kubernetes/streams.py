"""One watch of one resource: lists, follows, resumes after a break, or lists anew if it cannot resume.

Only a DELETED event or a complete list makes an object gone: a server that cannot be reached, a right that
was taken away or a missing CRD never do.
"""

import asyncio
import random
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.core.cluster_stats import StreamState
from syncret.daemon.homes.contract import (
    HomeError,
    HomeUnusable,
    Invalid,
    NotFound,
    StorageUnavailable,
    TooManyRequests,
)
from syncret.daemon.homes.kubernetes.api import JSON, METADATA_ONLY, ApiServer, NotAllowed, Status
from syncret.daemon.homes.kubernetes.objects import Metadata, ref_of
from syncret.daemon.homes.kubernetes.resources import Resource, Resources
from syncret.providers.kit.retry import Doubling

PAUSES: Final = Doubling(1.0, 30.0, jitter=-0.5)
"""Between attempts to resume a stream."""

MISSING: Final = 30.0
"""Seconds after which a resource that is not served is asked for again."""

LIFETIME: Final = (240, 300)
"""Seconds after which the server ends a stream, at random between these: not all streams at once."""

SILENCE: Final = 120.0
"""Seconds without a byte after which a stream counts as dead: a bookmark comes every minute or so."""

_PAGE: Final = 500
_GONE: Final = 410


class _Known(Struct, frozen=True, gc=False):
    """The version of an object that the stream announced last."""

    uid: str
    version: str


class _ListMetadata(Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class _List(Struct):
    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


class _Event(Struct):
    type: str
    object: msgspec.Raw


class _Annotated(Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Bookmark(Struct):
    metadata: _Annotated


class _Head(Struct):
    metadata: Metadata


class _Expired(Exception):
    """The server no longer knows what came after our last version."""


Raw: TypeAlias = msgspec.Raw | bytes


class Receiver(Protocol):
    """Takes the events of a stream, in order. It may wait, which delays the stream."""

    async def changed(self, resource: Resource, raw: Raw, *, is_new: bool) -> None:
        """A version of an object that exists; `is_new`: it is the first one that the stream announces."""
        ...

    async def deleted(self, resource: Resource, ref: ObjectRef, uid: str, version: str) -> None:
        """An object left the stream: it is gone, or no longer what the stream selects."""
        ...

    async def listed(self) -> None:
        """All objects that existed have been announced."""
        ...

    async def unknown(self, why: str) -> None:
        """The resource cannot be watched now."""
        ...


class Stream:
    """Follows one resource, or those of its objects that a label selector matches."""

    def __init__(
        self,
        api: ApiServer,
        resources: Resources,
        kind: GroupKind,
        receiver: Receiver,
        *,
        namespace: str = "",
        labels: str = "",
        metadata_only: bool = False,
    ) -> None:
        self.kind = kind
        self.version = ""
        """The newest version that was announced, by an event, a list or a bookmark."""
        self._newest = ""
        self._is_connected = False
        self.is_listed = False
        self.known: dict[ObjectRef, _Known] = {}
        self.moved = asyncio.Event()
        """Set whenever `version` or `is_listed` changes."""
        self.retry_now = asyncio.Event()
        """To be set when a resource that was not served may be served now."""
        self._api = api
        self._resources = resources
        self._receiver = receiver
        self._namespace = namespace
        self._selector = {"labelSelector": labels} if labels else {}
        self._accept = f"{METADATA_ONLY},{JSON}" if metadata_only else JSON
        self._lists_by_watch = True
        self._state = StreamState(kind.kind, asyncio.get_running_loop().time())

    @property
    def doing(self) -> str:
        """The beginning of messages: the watch and its kind."""
        return f"watching {self.kind}"

    async def run(self) -> None:
        """Follow until cancelled."""
        streams = self._api.stats.streams
        streams.append(self._state)
        try:
            await self._run()
        finally:
            streams.remove(self._state)

    async def _run(self) -> None:
        failures = 0
        while True:
            self.retry_now.clear()
            try:
                resource = await self._resources.find(self.kind)
                if resource is None:
                    await self._lose(
                        "the API server does not serve this kind (install its CRD: `syncret export crds`)"
                    )
                    await self._wait()
                    continue
                await self._follow(resource)
                failures = 0
                self._broke("ended")
            except _Expired:
                self.version = ""
                self._broke("expired")
            except (NotFound, NotAllowed) as error:
                self._resources.forget(self.kind)
                await self._lose(str(error))
                await self._wait()
            except HomeError as error:
                failures += 1
                self._broke("failed")
                await asyncio.sleep(_pause(error, failures))

    async def _wait(self) -> None:
        """Wait before the next attempt, for a resource that is not served, or may not be watched."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.retry_now.wait(), MISSING)
            self._resources.forget(self.kind)

    @property
    def is_current(self) -> bool:
        """Whether all objects were announced, and the watch is connected."""
        return self.is_listed and self._is_connected

    def has_reached(self, version: str) -> bool:
        """Whether the stream has announced everything up to a version."""
        return self.is_listed and not is_older(self.version, version)

    def _broke(self, why: str) -> None:
        """The stream was cut off, and is resumed."""
        self._api.stats.restarts[self.kind.kind, why] += 1
        if self._state.behind_since is None:
            self._state.behind_since = asyncio.get_running_loop().time()

    def _is_up_to_date(self) -> None:
        self._state.behind_since = None
        self._state.is_unknown = False
        self._state.has_synced = True

    async def _lose(self, why: str) -> None:
        """The resource cannot be watched: its changes are unknown."""
        self._broke("unknown")
        self._state.is_unknown = True
        self.version = ""
        self.is_listed = False
        await self._receiver.unknown(why)

    # -------------------------------------------------------------------------------------------------- watch
    async def _follow(self, resource: Resource) -> None:
        """One connection, to its end. Raises _Expired and HomeError."""
        if not self.version and not self._lists_by_watch:
            await self._list(resource)
        starts = not self.version
        try:
            await self._read(resource, starts=starts)
        except Invalid:
            if not starts:
                raise
            self._lists_by_watch = False  # a server of before 1.34, or one with WatchList disabled

    async def _read(self, resource: Resource, *, starts: bool) -> None:
        listing: set[ObjectRef] | None = set() if starts else None
        async with (
            self._api.watch(
                resource.path(self._namespace),
                doing=self.doing,
                params=self._watch_params(starts=starts),
                accept=self._accept,
                silence=SILENCE,
            ) as stream,
            aclosing(stream.lines()) as lines,
        ):
            self._is_connected = True
            if not starts:
                self._is_up_to_date()
            try:
                async for line in lines:
                    if line:
                        listing = await self._take(resource, line, listing)
            finally:
                self._is_connected = False

    def _watch_params(self, *, starts: bool) -> Mapping[str, str]:
        seconds = random.randint(*LIFETIME)  # noqa: S311  # no secret
        params = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
            **self._selector,
        }
        if starts:
            return {**params, "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        return {**params, "resourceVersion": self.version}

    async def _take(
        self, resource: Resource, line: bytes, listing: set[ObjectRef] | None
    ) -> set[ObjectRef] | None:
        """Take in one event; returns what the list under way has named, None once it is complete."""
        event = msgspec.json.decode(line, type=_Event)
        if event.type == "ERROR":
            raise self._error(msgspec.json.decode(event.object, type=Status))
        if event.type == "BOOKMARK":
            mark = msgspec.json.decode(event.object, type=_Bookmark).metadata
            if listing is not None and (mark.annotations or {}).get("k8s.io/initial-events-end") == "true":
                await self._complete(resource, listing, mark.resource_version)
                return None
            self._move(mark.resource_version)
            return listing
        head = msgspec.json.decode(event.object, type=_Head).metadata
        ref = ref_of(resource, head.namespace, head.name)
        if event.type == "DELETED":
            self.known.pop(ref, None)
            await self._receiver.deleted(resource, ref, head.uid, head.resource_version)
        else:
            await self._announce(resource, ref, head, event.object)
        if listing is None:
            self._move(head.resource_version)
        else:
            listing.add(ref)
        return listing

    @staticmethod
    def _error(status: Status) -> Exception:
        if status.code == _GONE:
            return _Expired()
        return StorageUnavailable(status.message or "the server ended the watch with an error")

    async def _announce(self, resource: Resource, ref: ObjectRef, head: Metadata, raw: Raw) -> None:
        known = self.known.get(ref)
        if known is not None and known.version == head.resource_version and known.uid == head.uid:
            return
        if known is not None and known.uid != head.uid:
            await self._receiver.deleted(resource, ref, known.uid, known.version)
        self.known[ref] = _Known(head.uid, head.resource_version)
        await self._receiver.changed(resource, raw, is_new=known is None)

    async def _complete(self, resource: Resource, named: set[ObjectRef], version: str) -> None:
        """The list is complete: known objects that are not in it are gone."""
        if is_older(version, self._newest):
            raise HomeUnusable(
                f"{self.doing}: the API server's data is older than before: it was restored from a backup",
                hint="start again: everything is looked at anew then",
            )
        for ref in [ref for ref in self.known if ref not in named]:
            await self._receiver.deleted(resource, ref, self.known.pop(ref).uid, version)
        self.is_listed = True
        self._is_up_to_date()
        self._move(version)
        await self._receiver.listed()

    def _move(self, version: str) -> None:
        if is_older(self.version, version):
            self.version = version
        if is_older(self._newest, version):
            self._newest = version
        self.moved.set()

    # --------------------------------------------------------------------------------------------------- list
    async def _list(self, resource: Resource) -> None:
        """All objects, in pages, for a server that does not list by watching. It is a consistent list."""
        token, version = "", ""
        named: set[ObjectRef] = set()
        while True:
            params = {"limit": str(_PAGE), **self._selector, **({"continue": token} if token else {})}
            answer = await self._api.read(
                resource.path(self._namespace), doing=self.doing, params=params, accept=self._accept
            )
            page = msgspec.json.decode(b'{"metadata":{}}' if answer is None else answer.body, type=_List)
            for raw in page.items or ():
                head = msgspec.json.decode(raw, type=_Head).metadata
                ref = ref_of(resource, head.namespace, head.name)
                named.add(ref)
                await self._announce(resource, ref, head, raw)
            token, version = page.metadata.continue_, page.metadata.resource_version
            if not token:
                await self._complete(resource, named, version)
                return


def is_older(version: str, other: str) -> bool:
    """Whether a version comes before another: they are growing numbers."""
    return (len(version), version) < (len(other), other)


def _pause(error: HomeError, failures: int) -> float:
    asked = error.retry_after if isinstance(error, TooManyRequests) else None
    chance = random.random()  # noqa: S311  # a pause is no secret
    return asked if asked is not None else PAUSES.pause(failures, chance=chance)
