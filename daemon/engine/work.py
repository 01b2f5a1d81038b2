"""Runs what a sync computes: on the loop as long as it is little, otherwise once more, in a thread.

What an object costs is decided by whoever writes its manifest, and by the servers that it names. Most of it
is done in microseconds, and the way to a thread and back costs more. So everything is tried with a little of
the object's budget first. What exceeds that gives up, and is done in a thread with all that is left: pure
Python there takes one switch interval of the loop at a time. One object has one thread at a time.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeVar

from syncret.config.settings import Settings
from syncret.daemon.engine.sessions.tasks import within
from syncret.providers.errors import SyncError
from syncret.providers.work import MEGABYTE, STEPS_A_SECOND, Work

T = TypeVar("T")

_THREADS: Final = 4
_LITTLE_STEPS: Final = STEPS_A_SECOND // 500
_LITTLE_MEMORY: Final = MEGABYTE


class WorkLimits(NamedTuple):
    """What one sync of one object may cost, as the settings say."""

    time: float = 1.0
    """Seconds of work, by the count of steps and not by the clock."""
    memory: int = 64 * MEGABYTE

    @classmethod
    def of(cls, settings: Settings) -> "WorkLimits":
        """Those of the settings."""
        return cls(settings.work_time, settings.work_memory)


class TimeLimit(NamedTuple):
    """Seconds by the clock, and the error when they are over."""

    seconds: float
    error: SyncError


NO_LIMIT: Final = TimeLimit(0.0, SyncError("no limit"))


class WorkThreads:
    """The threads of an engine. They are few and nobody else's: costly objects hold up one another alone."""

    def __init__(self, limits: WorkLimits | None = None) -> None:
        self._limits = limits or WorkLimits()
        self._threads: ThreadPoolExecutor | None = None
        self._turns = asyncio.Semaphore(_THREADS)

    def close(self) -> None:
        """Begin nothing more; what still runs ends soon after nobody waits for it."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def new_work(self) -> Work:
        """The budget of one sync, or of what many share, such as a search."""
        return Work(seconds=self._limits.time, memory=self._limits.memory)

    def sync(self) -> "SyncWork":
        """What one sync of one object needs."""
        return SyncWork(self, self.new_work())

    async def compute(self, function: Callable[[Work], T]) -> T:
        """What one call needs, with a budget of its own."""
        return await self.sync().run(function)

    async def run(self, function: Callable[[Work], T], work: Work, limit: TimeLimit) -> T:
        """Run this as soon as a thread is free; whoever waits for one does not use up its time."""
        async with self._turns:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="work")
            running = asyncio.get_running_loop().run_in_executor(self._threads, function, work)
            try:
                async with within(*limit):
                    return await running
            finally:
                if running.cancelled():
                    work.stop()  # what still runs in the thread ends at its next step


class SyncWork:
    """The budget of one sync, and where it is spent."""

    def __init__(self, threads: WorkThreads, work: Work) -> None:
        self._threads = threads
        self.work = work
        """What is left."""
        self._turn = asyncio.Lock()

    async def run(self, function: Callable[[Work], T], limit: TimeLimit = NO_LIMIT) -> T:
        """The result of a function that pays for what it does, and may be called twice.

        Raises what it raises, OverBudget too. The limit is for the time that it takes in a thread.
        """
        async with self._turn:
            whole, little = self.work, Work(at_once=True)
            little.steps = steps = min(whole.steps, _LITTLE_STEPS)
            little.memory = memory = min(whole.memory, _LITTLE_MEMORY)
            try:
                result = function(little)
            except Exception:
                if not little.spent:
                    raise
            else:
                if not little.spent:
                    return result
            finally:
                if not little.spent:
                    whole.steps -= steps - little.steps
                    whole.memory -= memory - little.memory
            return await self._threads.run(function, whole, limit)

    def again(self) -> "SyncWork":
        """The same with what is left now: for what is done anew because of somebody else."""
        work = Work()
        work.steps, work.memory = self.work.steps, self.work.memory
        return SyncWork(self._threads, work)
