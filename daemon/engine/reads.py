"""Joins reads of the same key that are wanted at the same time, and gathers different keys into batches."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from syncret.daemon.engine.tasks import Tasks, join
from syncret.providers.contract import RemoteKey
from syncret.providers.errors import SyncError

Payloads: TypeAlias = Mapping[RemoteKey, object]
"""By key: what the provider gave, or its SyncError; a key that does not exist is absent."""

Fetch: TypeAlias = Callable[[Sequence[RemoteKey], str], Awaitable[Payloads]]
"""Fetches keys, on behalf of a namespace."""


class _Batch:
    """Keys of one call; open for more until the window closes or it is full."""

    __slots__ = ("full", "keys", "namespace", "task")

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.keys: list[RemoteKey] = []
        self.full = asyncio.Event()
        self.task: asyncio.Task[Payloads]


class Reads:
    """The reads of one client that are under way. Nothing is kept once a call is over."""

    def __init__(self, fetch: Fetch, *, size: int, window: float, tasks: Tasks, name: str) -> None:
        self._fetch = fetch
        self._size = max(1, size)
        self._window = window
        self._tasks = tasks
        self._name = name
        self._open: _Batch | None = None
        self._under_way: dict[RemoteKey, _Batch] = {}

    async def get(
        self, keys: Iterable[RemoteKey], namespace: str, *, on_shared: Callable[[int], None]
    ) -> Payloads:
        """Payloads by key. The failure of a whole call stands in the place of each of its keys."""
        batches: dict[RemoteKey, _Batch] = {}
        shared = 0
        for key in dict.fromkeys(keys):
            batch = self._under_way.get(key)
            if batch is None:
                batch = self._enlist(key, namespace)
            else:
                shared += 1
            batches[key] = batch
        if shared:
            on_shared(shared)
        found: dict[RemoteKey, object] = {}
        for key, batch in batches.items():
            try:
                payloads = await join(batch.task)
            except SyncError as error:
                found[key] = error
                continue
            if key in payloads:
                found[key] = payloads[key]
        return found

    def _enlist(self, key: RemoteKey, namespace: str) -> _Batch:
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
            if self._window:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._window):
                        await batch.full.wait()
            if self._open is batch:
                self._open = None
            return await self._fetch(tuple(batch.keys), batch.namespace)
        finally:
            for key in batch.keys:
                del self._under_way[key]

    def __repr__(self) -> str:
        return f"<Reads under_way={len(self._under_way)} size={self._size}>"
