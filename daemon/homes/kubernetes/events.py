"""Writes events of objects to the API server while nothing else is written: none delays or fails a write.

The queue is bounded, for outages and floods: if it is full, the oldest event that is no warning is dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import structlog

from syncret.config.meta import Document
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.homes.contract import (
    AlreadyExists,
    HomeError,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
    TooManyRequests,
)
from syncret.daemon.homes.kubernetes.api import MERGE_PATCH, ApiServer, NotAllowed
from syncret.daemon.homes.kubernetes.event_rules import Entry, EventRules
from syncret.providers.kit.http import Body, json_body
from syncret.providers.kit.kube.client import path_of
from syncret.providers.kit.retry import Doubling

LANES: Final = 2
"""Requests under way at once."""

MOST_WAITING: Final = 5000

GIVES_WAY: Final = 5.0
"""Seconds for which an event waits for a moment in which no object is written."""

MAX_TRIES: Final = 8
_PAUSES: Final = Doubling(1.0, 30.0)

LAST_WITHIN: Final = 2.0
"""Seconds at the end within which waiting events are still written."""

LAST_LANES: Final = 16
"""Requests under way at once then: no run writes any more."""

log = structlog.get_logger()


class EventWriter(Protocol):
    """Writes Event objects. Each method may raise HomeError."""

    async def create(self, namespace: str, event: Document) -> None: ...

    async def patch(self, namespace: str, name: str, changes: Document) -> None: ...


async def at_once(seconds: float) -> None:
    """Do not wait: for a caller that makes no other writes."""
    del seconds


class Events:
    """The events of one home. `run` it; `record` never waits."""

    def __init__(
        self,
        writer: EventWriter,
        now: Callable[[], float],
        stats: ClusterStats | None = None,
        give_way: Callable[[float], Awaitable[None]] = at_once,
    ) -> None:
        """`stats` counts the events that are not written: too many of one object, too many waiting, refused.

        `give_way` waits until nothing else is written, for so many seconds at most.
        """
        self._give_way = give_way
        self._writer = writer
        self.stats = stats or ClusterStats()
        self._now = now
        self._rules = EventRules()
        self._waiting: dict[Entry, None] = {}
        """In the order in which they came."""
        self._under_way: set[Entry] = set()
        self._arrived = asyncio.Event()
        self._has_logged_refusal = False

    def record(self, seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        """Take one event of this version of an object."""
        entry = self._rules.take(seen, warning=warning, reason=reason, message=message, now=self._now())
        if entry is None:
            self.stats.events_dropped += 1
        elif entry not in self._under_way and entry not in self._waiting:
            self._enqueue(entry)

    async def run(self) -> None:
        """Write what is recorded, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number in range(LANES):
                group.create_task(self._write_all(), name=f"home: events {number}")

    async def flush(self) -> None:
        """Write the events that still wait, for a few seconds at most."""
        try:
            async with asyncio.timeout(LAST_WITHIN), asyncio.TaskGroup() as group:
                for number in range(LAST_LANES):
                    group.create_task(self._write_waiting(), name=f"home: last events {number}")
        except TimeoutError:
            self.stats.events_dropped += len(self._waiting)
            self._waiting.clear()

    async def _write_waiting(self) -> None:
        while self._waiting:
            await self._write(self._next())

    def _enqueue(self, entry: Entry) -> None:
        if len(self._waiting) >= MOST_WAITING:
            oldest = next((each for each in self._waiting if not each.warning), None)
            del self._waiting[oldest or next(iter(self._waiting))]
            self.stats.events_dropped += 1
        self._waiting[entry] = None
        self._arrived.set()

    def _next(self) -> Entry:
        entry = next(iter(self._waiting))
        del self._waiting[entry]
        return entry

    async def _write_all(self) -> None:
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            waited = self._now() - next(iter(self._waiting)).last
            await self._give_way(GIVES_WAY - waited)
            if self._waiting:
                await self._write(self._next())

    async def _write(self, entry: Entry) -> None:
        """Write the entry as it is then; repetitions that come meanwhile are written after it."""
        self._under_way.add(entry)
        try:
            count = await self._tried(entry)
        except asyncio.CancelledError:
            self._waiting[entry] = None  # for `flush`
            raise
        finally:
            self._under_way.discard(entry)
        if count is None:
            self.stats.events_dropped += 1
        elif entry.count > count:
            self._enqueue(entry)

    async def _tried(self, entry: Entry) -> int | None:
        """The count that was written; None where it was refused, or could not be written for minutes."""
        for tries in range(1, MAX_TRIES + 1):
            count = entry.count
            try:
                await self._send(entry)
            except (TooManyRequests, OutcomeUnknown, StorageUnavailable) as error:
                if isinstance(error, NotAllowed):
                    self._refused(error)
                    return None
                asked = error.retry_after if isinstance(error, TooManyRequests) else None
                await asyncio.sleep(_PAUSES.pause(tries) if asked is None else asked)
            except HomeError:  # its namespace is going away, say
                return None
            else:
                entry.is_stored = True
                return count
        return None

    async def _send(self, entry: Entry) -> None:
        if entry.is_stored:
            try:
                await self._writer.patch(entry.namespace, entry.name, entry.changes)
            except NotFound:  # the server keeps them for an hour
                entry.is_stored = False
            else:
                return
        try:
            await self._writer.create(entry.namespace, entry.document)
        except AlreadyExists:  # the answer to an earlier try was lost
            entry.is_stored = True
            await self._writer.patch(entry.namespace, entry.name, entry.changes)

    def _refused(self, error: NotAllowed) -> None:
        if not self._has_logged_refusal:
            self._has_logged_refusal = True
            log.warning("events of objects are not written", error=str(error), hint=error.hint)


class ApiEvents:
    """Implements `EventWriter` on an API server."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    async def create(self, namespace: str, event: Document) -> None:
        """As `EventWriter` says."""
        path = path_of("", "v1", "events", namespace=namespace)
        await self._api.write("POST", path, json_body(event), doing="writing an Event")

    async def patch(self, namespace: str, name: str, changes: Document) -> None:
        """As `EventWriter` says."""
        path = path_of("", "v1", "events", namespace=namespace, name=name)
        body = Body(json_body(changes).content, MERGE_PATCH)
        await self._api.write("PATCH", path, body, doing="writing an Event")
