"""What code that a run calls can say of the run: that it waits for a provider, and when it was asked for.

A context variable carries it, so that it need not pass through reconcilers, sessions and providers.
"""

import asyncio
from contextvars import ContextVar
from types import TracebackType
from typing import Final

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.queue.workqueue import WorkQueue


class CurrentRun(Struct, frozen=True):
    """The run of one object. `since` is when it was last asked for, in the loop's time."""

    queue: WorkQueue
    ref: ObjectRef
    since: float


current_run: Final[ContextVar[CurrentRun | None]] = ContextVar("current_run", default=None)
"""The run that this task belongs to; none for what serves several runs, or no object."""


class waiting_for:  # noqa: N801  # used like a function: `async with waiting_for(store):`
    """Within this block the run waits for a store: it has no worker, and takes one again before it goes on.

    A wait that ends within one turn of the loop is none.
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
