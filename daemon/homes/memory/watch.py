"""Watches: the objects that exist, then LISTED for each kind, then every change in order, for all watchers.

A kind of which there was no object is LISTED when its first one comes.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Collection, Iterator
from weakref import ref

from syncret.config.meta import GroupKind
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType


def event_of(type_: WatchEventType, stored: StoredObject) -> WatchEvent:
    """The event of one version of an object."""
    return WatchEvent(type_, stored.ref.group_kind, stored)


class Watch(AsyncIterator[WatchEvent]):
    """One watcher's stream. It starts with the call that made it, not with the first read.

    What exists is read from `existing` one by one; what changes meanwhile waits in the buffer.
    The buffer has no bound: watcher and cluster live in one event loop, an entry is a reference to a version,
    and a bound could only mean to lose events or to stop the writer. Close it with `aclose`; a watch that is
    no longer referenced is forgotten too. Cancelling a read loses nothing.
    """

    def __init__(
        self, broadcaster: "Broadcaster", existing: Iterator[StoredObject], kinds: Collection[GroupKind]
    ) -> None:
        self._broadcaster = broadcaster
        self._existing: Iterator[StoredObject] | None = existing
        self._listed = set(kinds)
        self._buffer = deque(WatchEvent(WatchEventType.LISTED, kind) for kind in kinds)
        self._arrival: asyncio.Future[None] | None = None
        self._closed = False

    def __aiter__(self) -> "Watch":
        return self

    async def __anext__(self) -> WatchEvent:
        if self._existing is not None:
            stored = next(self._existing, None)
            if stored is not None:
                return event_of(WatchEventType.ADDED, stored)
            self._existing = None
        while not self._buffer:
            if self._closed:
                raise StopAsyncIteration
            if self._arrival is not None:
                raise RuntimeError("a watch has one reader at a time")
            self._arrival = asyncio.get_running_loop().create_future()
            self._broadcaster.on_drained()
            try:
                await self._arrival
            finally:
                self._arrival = None
        return self._buffer.popleft()

    @property
    def is_drained(self) -> bool:
        """Whether everything was read and the reader waits for more."""
        return self._arrival is not None and not self._buffer

    def send(self, change: WatchEvent) -> None:
        """Queue one change; the reader runs when the loop next turns."""
        if change.group_kind not in self._listed:
            self._listed.add(change.group_kind)
            self._buffer.append(WatchEvent(WatchEventType.LISTED, change.group_kind))
        self._buffer.append(change)
        if self._arrival is not None:
            self._wake()

    async def aclose(self) -> None:
        """End the stream, also for a reader that waits; events that were not read are dropped."""
        self._closed = True
        self._existing = None
        self._buffer.clear()
        self._broadcaster.leave(self)
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class Broadcaster:
    """Passes every change to every watch, and knows when all have read everything."""

    def __init__(self) -> None:
        self._watches: list[ref[Watch]] = []
        self._idle_waiters: list[asyncio.Future[None]] = []

    def open(self, existing: Iterator[StoredObject], kinds: Collection[GroupKind]) -> Watch:
        watch = Watch(self, existing, kinds)
        self.join(watch)
        return watch

    def join(self, watch: Watch) -> None:
        """Announce every change to the watch from now on, until it leaves or is no longer referenced."""
        self._watches.append(ref(watch, self._watches.remove))

    def publish(self, type_: WatchEventType, stored: StoredObject) -> None:
        """Announce a change to all watchers; it is in their buffers when this returns."""
        if not self._watches:
            return
        change = event_of(type_, stored)
        for known in tuple(self._watches):  # whatever is collected meanwhile leaves the list
            watch = known()
            if watch is not None:
                watch.send(change)

    def leave(self, watch: Watch) -> None:
        """Forget a watch."""
        self._watches[:] = [known for known in self._watches if known() is not watch]
        self.on_drained()

    def on_drained(self) -> None:
        """Wake the callers of `idle` if every watch is drained."""
        if self._idle_waiters and self._is_drained():
            for waiter in self._idle_waiters:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle_waiters.clear()

    async def idle(self) -> None:
        """Return once every watcher has read everything and waits for more.

        A reader asks for more once it has dealt with what it read: the consequences are in the cluster, too.
        """
        while not self._is_drained():
            waiter = asyncio.get_running_loop().create_future()
            self._idle_waiters.append(waiter)
            await waiter

    def _is_drained(self) -> bool:
        return all(watch.is_drained for known in self._watches if (watch := known()) is not None)
