"""Owns tasks with several waiters: the cancellation of one waiter does not cancel the task for the others.

Time limits that end in an error of ours, and locks by name.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from contextvars import Context
from typing import Any, TypeVar

from syncret.providers.errors import SyncError, Unavailable

T = TypeVar("T")


class TaskOwner:
    """Starts named tasks, and ends them all when it is closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Run the work; callers that join the task get its result or exception.

        It belongs to no run: the context variables of the run that happens to start it do not reach it.
        """
        context = Context()
        task = asyncio.create_task(work, name=name, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended, context=context)
        return task

    def hand_over(self, other: "TaskOwner") -> None:
        """Leave all tasks to another owner."""
        while self._tasks:
            other.take_over(self._tasks.pop())

    def take_over(self, task: asyncio.Task[Any]) -> None:
        """Own a task that another owner started."""
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def close(self, seconds: float) -> None:
        """Wait so long for the tasks, then cancel those that are left."""
        if self._tasks and seconds > 0:
            await asyncio.wait(self._tasks, timeout=seconds)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # not for asyncio's log, text and all, when nothing waits for it any more

    def __repr__(self) -> str:
        return f"<TaskOwner {sorted(task.get_name() for task in self._tasks)}>"


async def join(task: asyncio.Task[T]) -> T:
    """The task's result. A cancelled waiter leaves the task alone; a cancelled task raises Unavailable."""
    if not task.done():
        await asyncio.wait([task])
    if task.cancelled():
        raise Unavailable("the daemon is stopping")
    return task.result()


@asynccontextmanager
async def within(seconds: float, error: SyncError) -> AsyncGenerator[asyncio.Timeout, None]:
    """Give the block so many seconds (0: no limit); raises the error when they are over."""
    timer = asyncio.timeout(seconds or None)
    try:
        async with timer:
            yield timer
    except TimeoutError:
        if not timer.expired():
            raise  # the block's own
        raise error from None


class KeyedLocks:
    """A lock for each name, which exists only while it is held or waited for."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncGenerator[None, None]:
        """The turn for this name, in the order of asking."""
        lock, users = self._locks.get(name) or (asyncio.Lock(), 0)
        self._locks[name] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks[name]
            if users > 1:
                self._locks[name] = lock, users - 1
            else:
                del self._locks[name]
