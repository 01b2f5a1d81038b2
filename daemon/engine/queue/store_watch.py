"""Notices which stores answer the runs that wait for them, and which do not."""

import asyncio
from collections.abc import Callable
from typing import Final

from syncret.daemon.engine.queue.fair_queue import Answering

SILENT_AFTER: Final = 1.0
"""Seconds without an answer, while a run waits for one, after which a store counts as silent."""

_INSTANT: Final = 1e-6
"""Seconds. A timer may ring so much early."""


class _Store:
    """How many runs wait for a store, and since when without an answer."""

    __slots__ = ("answering", "since", "waiting")

    def __init__(self, since: float) -> None:
        self.answering: Answering = "unknown"
        self.since = since
        self.waiting = 0


class StoreWatch:
    """What is known of the stores that runs wait for, or have waited for within the last second."""

    def __init__(self, on_change: Callable[[str, Answering], None]) -> None:
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._stores: dict[str, _Store] = {}

    def wait_begins(self, name: str) -> None:
        """A run waits for this store from now on."""
        now = self._loop.time()
        store = self._stores.get(name)
        if store is None:
            store = self._stores[name] = _Store(now)
            self._arm(name, store)
        elif not store.waiting:
            store.since = now
        store.waiting += 1

    def wait_ends(self, name: str) -> None:
        """A run waits for it no longer."""
        store = self._stores[name]
        store.waiting -= 1
        if not store.waiting and store.answering == "no":
            self._forget(name)

    def answered(self, name: str) -> None:
        """The store answered, whatever it said."""
        store = self._stores.get(name)
        if store is None:
            return
        store.since = self._loop.time()
        if store.answering == "no":
            self._arm(name, store)
        self._set(name, store, "yes")

    def _arm(self, name: str, store: _Store) -> None:
        self._loop.call_at(store.since + SILENT_AFTER, self._ring, name)

    def _ring(self, name: str) -> None:
        store = self._stores[name]
        if self._loop.time() < store.since + SILENT_AFTER - _INSTANT:
            self._arm(name, store)
        elif store.waiting:
            self._set(name, store, "no")
        else:
            self._forget(name)

    def _set(self, name: str, store: _Store, answering: Answering) -> None:
        if store.answering != answering:
            store.answering = answering
            self._on_change(name, answering)

    def _forget(self, name: str) -> None:
        self._set(name, self._stores.pop(name), "unknown")

    def __repr__(self) -> str:
        silent = [name for name, store in self._stores.items() if store.answering == "no"]
        return f"<StoreWatch silent={silent}>"
