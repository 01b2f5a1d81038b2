"""Joins reads of the same key that are wanted at the same time, and gathers different keys into batches.

Two thousand objects that are due together do not all run together. Whoever runs later takes the answer of a
call that began after it was due. Answers are kept for a few seconds for that alone: nobody gets one that is
older than its own wish.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Final, NamedTuple, TypeAlias

from syncret.daemon.engine.queue.current_run import current_run
from syncret.daemon.engine.sessions.tasks import TaskOwner, join
from syncret.providers.contract import RemoteKey
from syncret.providers.errors import SyncError

Payloads: TypeAlias = Mapping[RemoteKey, object]
"""By key: what the provider gave, or its SyncError; a key that does not exist is absent."""

Fetch: TypeAlias = Callable[[Sequence[RemoteKey], str], Awaitable[Payloads]]
"""Fetches keys, on behalf of a namespace."""


ANSWER_LIFETIME: Final = 10.0
"""Seconds for which an answer waits for those who were due before it."""


MAX_BATCH_WAIT: Final = 0.25
"""Seconds for which a batch that is not full waits at most while other calls are under way."""


class _Answer(NamedTuple):
    """What a call gave for one key: nothing where there is no such key."""

    begin: float
    payload: object | None


class _Batch:
    """Keys of one call; open for more until the window closes or it is full."""

    __slots__ = ("full", "keys", "namespace", "task")

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.keys: list[RemoteKey] = []
        self.full = asyncio.Event()
        self.task: asyncio.Task[Payloads]


class ReadBatcher:
    """The reads of one client that are under way, and what was read while somebody waited for a turn."""

    def __init__(self, fetch: Fetch, *, size: int, window: float, tasks: TaskOwner, name: str) -> None:
        self._fetch = fetch
        self._size = max(1, size)
        self._window = window
        self._tasks = tasks
        self._name = name
        self._open: _Batch | None = None
        self._under_way: dict[RemoteKey, _Batch] = {}
        self._answers: dict[RemoteKey, _Answer] = {}
        self._calling = 0

    async def get(
        self, keys: Iterable[RemoteKey], namespace: str, *, on_shared: Callable[[int], None]
    ) -> Payloads:
        """Payloads by key. The failure of a whole call stands in the place of each of its keys."""
        batches: dict[RemoteKey, _Batch] = {}
        found: dict[RemoteKey, object] = {}
        shared = 0
        run = current_run.get()
        since = inf if run is None else run.since
        for key in dict.fromkeys(keys):
            answer = self._answers.get(key)
            if answer is not None and answer.begin > since:
                shared += 1
                if answer.payload is not None:
                    found[key] = answer.payload
                continue
            batch = self._under_way.get(key)
            if batch is None:
                batch = self._join_batch(key, namespace)
            else:
                shared += 1
            batches[key] = batch
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

    def _join_batch(self, key: RemoteKey, namespace: str) -> _Batch:
        batch = self._open
        if batch is None:
            batch = self._open = _Batch(namespace)
            batch.task = self._tasks.start(self._run(batch), name=f"read {self._name}")
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
            begin = asyncio.get_running_loop().time()
            self._calling += 1
            try:
                payloads = await self._fetch(tuple(batch.keys), batch.namespace)
            finally:
                self._calling -= 1
            self._keep({key: _Answer(begin, payloads.get(key)) for key in batch.keys})
            return payloads
        finally:
            for key in batch.keys:
                del self._under_way[key]

    async def _wait_for_batch(self, batch: _Batch) -> None:
        """Wait for the window; where other calls are under way, until one window after their answers.

        Whoever waited for those may ask for more keys then: a thousand objects that cannot all run at once
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

    def _keep(self, answers: Mapping[RemoteKey, _Answer]) -> None:
        self._answers |= answers

        def drop() -> None:
            for key, answer in answers.items():
                if self._answers.get(key) is answer:
                    del self._answers[key]

        asyncio.get_running_loop().call_later(ANSWER_LIFETIME, drop)

    def __repr__(self) -> str:
        return f"<Reads under_way={len(self._under_way)} size={self._size}>"
