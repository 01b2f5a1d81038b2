"""Hands the worker of a run that waits for a provider to another run, and watches whether the store answers.

A store that leaves a run without an answer for a second counts as silent.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from math import inf
from types import TracebackType
from typing import Final, Protocol

from msgspec import Struct, field

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.queue.fair_queue import Answering
from syncret.providers.answer_memory import RunAnswers


class Suspends(Protocol):
    """The work queue, as a run that waits sees it."""

    def suspend(self, ref: ObjectRef, store: str) -> None:
        """The run of this object waits for the store from now on."""
        ...

    async def resume(self, ref: ObjectRef, store: str, *, ends: bool = False) -> None:
        """Note that the run waits no longer. It goes on once this returns, or ends."""
        ...

    def answered(self, store: str) -> None:
        """The store answered a call, whatever it said."""
        ...


class CurrentRun(Struct, frozen=True):
    """The run of one object, known to all code that it calls: nothing in between has to pass it on.

    `since` is when it was last asked for, in the loop's time; `asked_at` when it was last asked for by an
    operator, or by a change of the object itself: infinitely long ago if the run has another reason.
    """

    queue: Suspends
    ref: ObjectRef
    since: float
    asked_at: float = -inf
    answers: RunAnswers = field(default_factory=RunAnswers)
    """Its part of the answer memory, until it ends."""


current_run: Final[ContextVar[CurrentRun | None]] = ContextVar("current_run", default=None)
"""The run that this task belongs to; none for what serves several runs, or no object."""


class waiting_for:  # noqa: N801  # used like a function: `async with waiting_for(store):`
    """Within this block the run waits for a store: it gives its worker back, and takes one again at the end.

    A wait that ends within one turn of the loop does not count.
    """

    __slots__ = ("_begin", "_run", "_store", "_waits")

    def __init__(self, store: str) -> None:
        self._store = store
        self._run = current_run.get()
        self._begin: asyncio.Handle | None = None
        self._waits = False

    async def __aenter__(self) -> None:
        if self._run is not None:
            self._begin = asyncio.get_running_loop().call_soon(self._wait)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._begin is not None:
            self._begin.cancel()
        if self._waits and self._run is not None:
            cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
            await self._run.queue.resume(self._run.ref, self._store, ends=cancelled)

    def _wait(self) -> None:
        self._waits = True
        if self._run is not None:
            self._run.queue.suspend(self._run.ref, self._store)


class Workers:
    """Limits the runs that go on at once. One that returns from a wait goes before one that is to start."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._returning: deque[asyncio.Future[None]] = deque()

    @property
    def has_free(self) -> bool:
        """Whether a run may be started."""
        return self._free > 0

    def take(self) -> None:
        """Take a worker for a run that is started; one must be free."""
        self._free -= 1

    def give_back(self) -> None:
        """Hand a worker to the run that has been waiting longest to go on; without such a run it is free."""
        while self._returning:
            future = self._returning.popleft()
            if not future.done():
                future.set_result(None)
                return
        self._free += 1

    async def regain(self) -> None:
        """Take a worker for a run that goes on."""
        if self._free:
            self._free -= 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._returning.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if not future.cancelled():
                self.give_back()
            raise

    def __repr__(self) -> str:
        return f"<Workers free={self._free} returning={len(self._returning)}>"


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
    """The state of the stores that runs wait for, or have waited for within the last second."""

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

    def silent_since(self, name: str) -> float | None:
        """Since when it has given no answer while runs wait for one; None if it answers."""
        store = self._stores.get(name)
        return store.since if store is not None and store.answering == "no" else None

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
