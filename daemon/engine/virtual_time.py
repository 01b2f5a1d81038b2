"""An event loop whose time is virtual: it jumps to the next timer when nothing is ready, so an hour is free.

`syncret simulate` runs on it, and so do the engine's tests. Threads are real: while work is under way in an
executor, time stands still and the loop waits. Sockets are served, but time does not wait for them.
"""

import asyncio
import selectors
from asyncio import Future
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

if TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method: T) -> T:
        """Mark for the type checkers; `typing` has it from 3.12 on."""
        return method


LONGEST_THREAD_WAIT: Final = 30.0
"""Real seconds that time stands still for a thread; then it runs on, so that a time limit can end it."""


class Deadlock(RuntimeError):
    """Nothing is ready, no timer is armed, and no thread or socket is left that could wake the loop."""


class _JumpingSelector(selectors.DefaultSelector):
    """Never sleeps for a timer; moves its own `now` there instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.threads = 0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        alone = not self.threads and len(self.get_map()) <= 1  # the one is the loop's own pipe to itself
        if alone and timeout == 0:  # callbacks are ready, and no socket or thread could have an event
            return []
        events = super().select(0)
        if events or timeout == 0:
            return events
        if self.threads:
            events = super().select(LONGEST_THREAD_WAIT)
            if events:
                return events
        if timeout is not None:
            self.now += max(timeout, 0.0)
            return []
        if alone:
            raise Deadlock("every task waits, and nothing is left that could wake one")
        return super().select(None)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that starts at time 0 and jumps. A wait that nothing can end raises Deadlock."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    @override
    def time(self) -> float:
        return self._jumping.now

    @override
    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> "Future[T]":
        future = super().run_in_executor(executor, func, *args)
        self._jumping.threads += 1
        future.add_done_callback(self._thread_done)
        return future

    @override
    async def shutdown_default_executor(self, *timeout: float) -> None:
        self._jumping.threads += 1
        try:
            await super().shutdown_default_executor(*timeout)
        finally:
            self._jumping.threads -= 1

    def _thread_done(self, _: "Future[T]") -> None:
        self._jumping.threads -= 1

    def __repr__(self) -> str:
        return f"<VirtualTimeLoop at {self.time():.3f} s, {self._jumping.threads} threads under way>"
