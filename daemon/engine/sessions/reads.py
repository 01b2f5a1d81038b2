"""Reads the entries of a store: equal reads share a call, others are batched, and answers are kept.

No object gets an answer that is older than its own request: neither a kept one, nor that of a call which had
begun before. It waits for the end of such a call, and reads again together with the requests that came
meanwhile.

Not all objects that are due together run together. One that runs later takes the answer of a call that began
after it was due. An answer is dropped once no such object waits for the store; if answers take too much
memory, the oldest are dropped, and read again.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import count
from math import inf
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec

from syncret.daemon.engine.queue.waiting import current_run
from syncret.daemon.engine.sessions.tasks import TaskOwner, join
from syncret.daemon.engine.work import SyncWork
from syncret.providers.answer_memory import AnswerMemory, RunAnswers, Share
from syncret.providers.errors import SyncError, bare
from syncret.providers.values import RemoteKey

MAX_KEPT: Final = 16 * 2**20
"""Bytes that the kept answers of all stores may take, about."""

_MOST_PARTS: Final = 10_000
"""An answer of more parts is not kept: to measure it would hold up the loop."""

_BESIDE: Final = 300
"""Bytes that an entry takes beside the answer itself."""


class Answer(NamedTuple):
    """The answer of a call for one key; its payload is None if there is no such key."""

    begin: float
    payload: object | None
    size: int


_Key: TypeAlias = tuple[int, RemoteKey]
"""Which client read, and what."""


class KeptAnswers:
    """Answers by store, oldest first.

    Args:
        is_awaited: whether an object of a store that was due before a moment runs, or is to be run.
        memory: what the answers count to; they are dropped when others need it.
    """

    def __init__(
        self,
        is_awaited: Callable[[str, float], bool],
        memory: AnswerMemory | None = None,
        *,
        limit: int = MAX_KEPT,
    ) -> None:
        memory = memory or AnswerMemory()
        memory.drop_kept = self.drop
        self._is_awaited = is_awaited
        self._memory = memory
        self._share = Share(memory, runs=[])
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
            if size is not None and size <= self.limit and self._memory.has_room(size):
                kept[client, key] = Answer(begin, payload, size)
                self.size += size
                self._share.add(size)
        if not kept:
            del self._stores[store]
        if self.size > self.limit:
            self._shrink(self.limit * 7 // 8)  # some more than needed: not for each that comes

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

    def drop(self, size: int) -> None:
        """Drop so many bytes, if there are as many."""
        self._shrink(max(0, self.size - size))

    def _shrink(self, size: int) -> None:
        """Drop the oldest answers, until the others take no more than this."""
        while self.size > size:
            oldest = min(self._stores, key=lambda store: next(iter(self._stores[store].values())).begin)
            kept = self._stores[oldest]
            self._drop(kept, next(iter(kept)))
            if not kept:
                del self._stores[oldest]

    def _drop(self, kept: dict[_Key, Answer], key: _Key) -> None:
        answer = kept.pop(key, None)
        if answer is not None:
            self.size -= answer.size
            self._share.grow(-answer.size)

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

Take: TypeAlias = Callable[[Mapping[RemoteKey, object | None]], Awaitable[None]]
"""Takes what it needs from payloads, by key; None if there is no such key."""

MAX_BATCH_WAIT: Final = 0.25
"""Seconds for which a batch that is not full waits at most while other calls are under way."""


class Batch:
    """Keys of one call; open for more until the window closes or it is full."""

    __slots__ = ("askers", "begin", "full", "keys", "namespace", "payers", "share", "task", "urgent", "users")

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.askers: list[RunAnswers] = []
        self.payers: list[SyncWork] = []
        self.users = 0
        """Callers that have still to take their values."""
        self.share: Share | None = None
        """The memory that the answer takes."""
        self.urgent = False
        self.begin = inf
        """When the last request was sent."""
        self.keys: list[RemoteKey] = []
        self.full = asyncio.Event()
        self.task: asyncio.Task[Payloads]

    def begins(self) -> None:
        """A request is sent now."""
        self.begin = asyncio.get_running_loop().time()

    def hold(self, share: Share) -> None:
        """Keep the share of the answer until all have taken their values."""
        self.share = share

    def leave(self) -> None:
        """One caller has taken its values, or will not."""
        self.users -= 1
        self.release_unused()

    def release_unused(self) -> None:
        """Release the answer's memory if no one waits for it any more."""
        if not self.users and self.share is not None and self.share.size:
            self.share.release()


Fetch: TypeAlias = Callable[[Batch], Awaitable[Payloads]]
"""Fetches the keys of a batch; calls its `begins` when a request is sent, and its `hold` with the share."""


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
        self._open: Batch | None = None
        self._under_way: dict[RemoteKey, Batch] = {}
        self._calling = 0

    async def get(
        self,
        keys: Iterable[RemoteKey],
        namespace: str,
        take: Take,
        *,
        payer: SyncWork,
        on_shared: Callable[[int], None],
    ) -> None:
        """Pass the payload of each key to `take` as soon as it is there: large ones are not held longer.

        If a whole call fails, each of its keys has the error in place of a payload.
        """
        batches: dict[Batch, list[RemoteKey]] = {}
        try:
            kept = await self._ask(keys, namespace, batches, payer, on_shared)
            if kept:
                await take(kept)
                kept.clear()
            while batches:
                batch = await _first_ended(batches)
                await take(await _payloads(batch, batches[batch]))
                del batches[batch]
                batch.leave()
                del batch  # not kept while others are waited for
        finally:
            for batch in batches:
                batch.leave()

    async def _ask(
        self,
        keys: Iterable[RemoteKey],
        namespace: str,
        batches: dict[Batch, list[RemoteKey]],
        payer: SyncWork,
        on_shared: Callable[[int], None],
    ) -> dict[RemoteKey, object | None]:
        """Join a batch for each key; or take the kept answer, which is returned."""
        kept: dict[RemoteKey, object | None] = {}
        run = current_run.get()
        since = None if run is None else run.since
        shared = 0
        wanted: Iterable[RemoteKey] = dict.fromkeys(keys)
        if self._under_way:  # what must wait for the end of an older call comes last: others need not wait
            wanted = sorted(wanted, key=lambda key: self._older_call(key, since) is not None)
        for key in wanted:
            while (older := self._older_call(key, since)) is not None:
                if run is not None:
                    older.askers.append(run.answers)
                await asyncio.wait([older.task])
            answer = None if since is None else self._kept.get(self._store, self._client, key, since)
            shared += answer is not None or key in self._under_way
            if answer is not None:
                kept[key] = answer.payload
                continue
            batch = self._under_way.get(key) or self._join_batch(key, namespace)
            if batch not in batches:
                batch.users += 1
                batch.payers.append(payer)
                if run is not None:
                    batch.askers.append(run.answers)
                    batch.urgent = batch.urgent or run.asked_at > -inf
            batches.setdefault(batch, []).append(key)
        if shared:
            on_shared(shared)
        return kept

    def _older_call(self, key: RemoteKey, since: float | None) -> Batch | None:
        """The read of the key that is under way, if it began before the request."""
        batch = self._under_way.get(key)
        return None if batch is None or since is None or batch.begin >= since else batch

    def _join_batch(self, key: RemoteKey, namespace: str) -> Batch:
        batch = self._open
        if batch is None:
            batch = self._open = Batch(namespace)
            batch.task = self._tasks.start(self._run(batch), name=f"read {self._store}")
        batch.keys.append(key)
        self._under_way[key] = batch
        if len(batch.keys) >= self._size:
            self._open = None
            if self._size > 1:
                batch.full.set()
        return batch

    async def _run(self, batch: Batch) -> Payloads:
        try:
            await self._wait_for_batch(batch)
            if self._open is batch:
                self._open = None
            self._calling += 1
            try:
                payloads = await self._fetch(batch)
            finally:
                self._calling -= 1
            answers = {key: payloads.get(key) for key in batch.keys}
            self._kept.keep(self._store, self._client, batch.begin, answers)
            return payloads
        finally:
            for key in batch.keys:
                del self._under_way[key]
            batch.release_unused()

    async def _wait_for_batch(self, batch: Batch) -> None:
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


async def _first_ended(batches: Collection[Batch]) -> Batch:
    """One that has ended; waits for it."""
    if len(batches) > 1:
        await asyncio.wait([batch.task for batch in batches], return_when=asyncio.FIRST_COMPLETED)
    return next((batch for batch in batches if batch.task.done()), next(iter(batches)))


async def _payloads(batch: Batch, keys: Iterable[RemoteKey]) -> Mapping[RemoteKey, object | None]:
    """The payloads of some keys; the failure of the whole call stands in the place of each."""
    try:
        payloads = await join(batch.task)
    except SyncError as error:
        return dict.fromkeys(keys, bare(error))
    return {key: payloads.get(key) for key in keys}
