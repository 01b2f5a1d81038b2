"""Reads the entries of a store: joins those of one key, gathers others into batches, and keeps the answers.

No object gets an answer that is older than its own request: neither a kept one, nor that of a call which had
begun before. It waits for the end of such a call, and reads again together with all that came meanwhile.

Two thousand objects that are due together do not all run together. One that runs later takes the answer of a
call that began after it was due. Once no such object waits at the store the answer is dropped; when answers
take too much memory the oldest go first, and are read again.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import count
from math import inf
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec

from syncret.daemon.engine.queue.waiting import current_run
from syncret.daemon.engine.sessions.tasks import TaskOwner, join
from syncret.providers.contract import RemoteKey
from syncret.providers.errors import SyncError

MAX_KEPT: Final = 16 * 2**20
"""Bytes that the kept answers of all stores may take, about."""

_MOST_PARTS: Final = 10_000
"""An answer of more parts is not kept: to measure it would hold up the loop."""

_BESIDE: Final = 300
"""Bytes that an entry takes beside the answer itself."""


class Answer(NamedTuple):
    """What a call gave for one key: nothing where there is no such key."""

    begin: float
    payload: object | None
    size: int


_Key: TypeAlias = tuple[int, RemoteKey]
"""Which client read, and what."""


class KeptAnswers:
    """Answers by store, oldest first.

    Args:
        is_awaited: whether an object of a store that was due before a moment runs, or is to be run.
    """

    def __init__(self, is_awaited: Callable[[str, float], bool], *, limit: int = MAX_KEPT) -> None:
        self._is_awaited = is_awaited
        self.limit = limit
        self._stores: dict[str, dict[_Key, Answer]] = {}
        self._clients = count()
        self.size = 0
        """Bytes of all answers, about."""

    def __len__(self) -> int:
        return sum(map(len, self._stores.values()))

    def new_client(self) -> int:
        """A number for a client. What one has read serves no other: it may have other rights."""
        return next(self._clients)

    def get(self, store: str, client: int, key: RemoteKey, since: float) -> Answer | None:
        """The answer of a call that began after the request."""
        answer = self._stores.get(store, {}).get((client, key))
        return answer if answer is not None and answer.begin > since else None

    def keep(
        self, store: str, client: int, begin: float, payloads: Mapping[RemoteKey, object | None]
    ) -> None:
        """Keep what a call gave that began then, if an object waits that was due before."""
        if not self._is_awaited(store, begin):
            return
        kept = self._stores.setdefault(store, {})
        for key, payload in payloads.items():
            self._drop(kept, (client, key))
            size = size_of(payload)
            if size is not None and size <= self.limit:
                kept[client, key] = Answer(begin, payload, size)
                self.size += size
        if not kept:
            del self._stores[store]
        if self.size > self.limit:
            self._shrink()

    def trim(self, stores: Iterable[str] | None) -> None:
        """Drop what no object of these stores (None: of any) can use any more."""
        for store in list(self._stores if stores is None else stores):
            kept = self._stores.get(store)
            if not kept:
                continue
            while kept and not self._is_awaited(store, next(iter(kept.values())).begin):
                self._drop(kept, next(iter(kept)))
            if not kept:
                del self._stores[store]

    def _shrink(self) -> None:
        """Drop the oldest answers, and some more: not one for each that comes."""
        while self.size > self.limit * 7 // 8:
            oldest = min(self._stores, key=lambda store: next(iter(self._stores[store].values())).begin)
            kept = self._stores[oldest]
            self._drop(kept, next(iter(kept)))
            if not kept:
                del self._stores[oldest]

    def _drop(self, kept: dict[_Key, Answer], key: _Key) -> None:
        answer = kept.pop(key, None)
        if answer is not None:
            self.size -= answer.size

    def __repr__(self) -> str:
        return f"<KeptAnswers {len(self)} size={self.size}>"


def size_of(payload: object) -> int | None:
    """Bytes that a kept answer takes, about; None if it has too many parts to be measured."""
    size = _BESIDE
    parts = [payload]
    for _ in range(_MOST_PARTS):
        if not parts:
            return size
        part = parts.pop()
        size += sys.getsizeof(part)
        parts.extend(_parts_of(part))
    return None


def _parts_of(part: object) -> Iterable[object]:
    if isinstance(part, str | bytes | int | float | None):
        return ()
    if isinstance(part, Mapping):
        members = cast("Mapping[object, object]", part)
        return (*members.keys(), *members.values())
    if isinstance(part, list | tuple | set | frozenset):
        return cast("Iterable[object]", part)
    if isinstance(part, msgspec.Struct):
        return [getattr(part, name) for name in part.__struct_fields__]
    if is_dataclass(part):
        return [getattr(part, field.name) for field in fields(part)]
    return vars(part).values() if hasattr(part, "__dict__") else ()


Payloads: TypeAlias = Mapping[RemoteKey, object]
"""By key: what the provider gave, or its SyncError; a key that does not exist is absent."""

Fetch: TypeAlias = Callable[[Sequence[RemoteKey], str, Callable[[], None]], Awaitable[Payloads]]
"""Fetches keys, on behalf of a namespace, and calls the function whenever a request is about to be sent."""

MAX_BATCH_WAIT: Final = 0.25
"""Seconds for which a batch that is not full waits at most while other calls are under way."""


class _Batch:
    """Keys of one call; open for more until the window closes or it is full."""

    __slots__ = ("begin", "full", "keys", "namespace", "task")

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.begin = inf
        """When the last request was sent."""
        self.keys: list[RemoteKey] = []
        self.full = asyncio.Event()
        self.task: asyncio.Task[Payloads]

    def begins(self) -> None:
        """A request is sent now."""
        self.begin = asyncio.get_running_loop().time()


class ReadBatcher:
    """The reads of one client that are under way, and what it has read that other objects may use."""

    def __init__(
        self, fetch: Fetch, *, size: int, window: float, tasks: TaskOwner, store: str, kept: KeptAnswers
    ) -> None:
        self._fetch = fetch
        self._store = store
        self._kept = kept
        self._client = kept.new_client()
        self._size = max(1, size)
        self._window = window
        self._tasks = tasks
        self._open: _Batch | None = None
        self._under_way: dict[RemoteKey, _Batch] = {}
        self._calling = 0

    async def get(
        self, keys: Iterable[RemoteKey], namespace: str, *, on_shared: Callable[[int], None]
    ) -> Payloads:
        """Payloads by key. The failure of a whole call stands in the place of each of its keys."""
        batches: dict[RemoteKey, _Batch] = {}
        found: dict[RemoteKey, object] = {}
        shared = 0
        run = current_run.get()
        since = None if run is None else run.since
        # What must wait for the end of an older call comes last: the others need not wait with it.
        for key in sorted(dict.fromkeys(keys), key=lambda key: self._older_call(key, since) is not None):
            while (older := self._older_call(key, since)) is not None:
                await asyncio.wait([older])
            answer = None if since is None else self._kept.get(self._store, self._client, key, since)
            if answer is None:
                shared += key in self._under_way
                batches[key] = self._under_way.get(key) or self._join_batch(key, namespace)
            else:
                shared += 1
                if answer.payload is not None:
                    found[key] = answer.payload
        if shared:
            on_shared(shared)
        for key, batch in batches.items():
            try:
                payloads = await join(batch.task)
            except SyncError as error:
                found[key] = error
                continue
            if key in payloads:
                found[key] = payloads[key]
        return found

    def _older_call(self, key: RemoteKey, since: float | None) -> "asyncio.Task[Payloads] | None":
        """The read of the key that is under way, if it began before the request."""
        batch = self._under_way.get(key)
        return None if batch is None or since is None or batch.begin >= since else batch.task

    def _join_batch(self, key: RemoteKey, namespace: str) -> _Batch:
        batch = self._open
        if batch is None:
            batch = self._open = _Batch(namespace)
            batch.task = self._tasks.start(self._run(batch), name=f"read {self._store}")
        batch.keys.append(key)
        self._under_way[key] = batch
        if len(batch.keys) >= self._size:
            self._open = None
            if self._size > 1:
                batch.full.set()
        return batch

    async def _run(self, batch: _Batch) -> Payloads:
        try:
            await self._wait_for_batch(batch)
            if self._open is batch:
                self._open = None
            self._calling += 1
            try:
                payloads = await self._fetch(tuple(batch.keys), batch.namespace, batch.begins)
            finally:
                self._calling -= 1
            answers = {key: payloads.get(key) for key in batch.keys}
            self._kept.keep(self._store, self._client, batch.begin, answers)
            return payloads
        finally:
            for key in batch.keys:
                del self._under_way[key]

    async def _wait_for_batch(self, batch: _Batch) -> None:
        """Wait for the window; where other calls are under way, until one window after their answers.

        Runs that waited for those may ask for more keys then: a thousand objects that cannot all run at once
        would otherwise send many batches half full.
        """
        loop = asyncio.get_running_loop()
        latest = loop.time() + (MAX_BATCH_WAIT if self._size > 1 else 0.0)
        more = self._window > 0
        while more and not batch.full.is_set():
            busy = self._calling > 0
            with suppress(TimeoutError):
                async with asyncio.timeout(self._window):
                    await batch.full.wait()
            more = (busy or self._calling > 0) and loop.time() < latest

    def __repr__(self) -> str:
        return f"<Reads under_way={len(self._under_way)} size={self._size}>"
