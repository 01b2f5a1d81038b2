"""Runs the computations of a sync: short ones on the loop, longer ones once more in a thread.

The author of a manifest, and the servers that it names, decide what an object costs. Most computations take
microseconds, less than the way to a thread and back. So each is tried on the loop first, with a small part of
the object's budget. If that does not suffice, it is repeated in a thread with all that is left: pure Python
there takes one switch interval of the loop at a time. One object has one thread at a time.
"""

import asyncio
from collections.abc import Callable, Collection, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, TypeVar

from syncret.config.settings import Settings
from syncret.daemon.engine.processes import OutOfMemory, OutOfTime, WorkerError, WorkerProcesses
from syncret.daemon.engine.sessions.tasks import within
from syncret.daemon.short_turns import short_turns
from syncret.providers.errors import OverBudget, SyncError, Unavailable
from syncret.providers.work import APART_COST, MEGABYTE, STEPS_A_SECOND, Work

T = TypeVar("T")

_THREADS: Final = 2
_IDLE: Final = 60.0
"""Seconds after which unused worker processes end."""

_LITTLE_STEPS: Final = STEPS_A_SECOND // 500
_LITTLE_MEMORY: Final = MEGABYTE


class WorkLimits(NamedTuple):
    """The limits of one sync of one object, by the settings."""

    time: float = 1.0
    """Seconds of work, by the count of steps and not by the clock."""
    memory: int = 64 * MEGABYTE
    call: float = 10.0
    """Seconds by the clock for one call in a worker process; 0: no limit."""

    @classmethod
    def of(cls, settings: Settings) -> "WorkLimits":
        """Those of the settings."""
        return cls(settings.work_time, settings.work_memory, settings.template_timeout)


class TimeLimit(NamedTuple):
    """Seconds by the clock, and what makes the error when they are over."""

    seconds: float
    error: Callable[[], SyncError]


NO_LIMIT: Final = TimeLimit(0.0, lambda: SyncError("no limit"))


class _ThreadWork(Work):
    """Work for a thread, which waits for calls that are made in worker processes."""

    __slots__ = ("_processes", "_seconds")

    def __init__(self, limits: WorkLimits, processes: WorkerProcesses) -> None:
        super().__init__(seconds=limits.time, memory=limits.memory)
        self._processes = processes
        self._seconds = limits.call

    def apart(self, doing: str, function: Callable[..., T], *arguments: object) -> T:
        """Make the call in a worker process."""
        self.step(APART_COST)
        try:
            return self._processes.call(self._seconds, function, *arguments)
        except OutOfTime:
            raise OverBudget(
                f"{doing} took longer than templateTimeout ({self._seconds:g} s)",
                hint="replace it, or raise the setting",
            ) from None
        except OutOfMemory:
            raise OverBudget(f"{doing} took more memory than there is for it", hint="replace it") from None
        except WorkerError as error:
            raise Unavailable(str(error)) from None


class WorkThreads:
    """The threads of an engine, and its worker processes.

    They are few, and used for nothing else: costly objects only delay one another. More threads would not
    make Python faster, and the event loop would wait for each of them in turn.
    """

    def __init__(self, limits: WorkLimits | None = None) -> None:
        self._limits = limits or WorkLimits()
        self._threads: ThreadPoolExecutor | None = None
        self._turns = asyncio.Semaphore(_THREADS)
        self._processes = WorkerProcesses()
        self._end_idle: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Start no more work; what still runs ends soon after its waiters have left."""
        if self._end_idle is not None:
            self._end_idle.cancel()
        self._processes.close()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def new_work(self) -> Work:
        """The budget of one sync, or of what many share, such as a search."""
        return _ThreadWork(self._limits, self._processes)

    def sync(self) -> "SyncWork":
        """The budget of one sync of one object."""
        return SyncWork(self, self.new_work())

    async def compute(self, function: Callable[[Work], T]) -> T:
        """Run a computation of the current call to a store; outside of a call it has a budget of its own."""
        call = call_work.get()
        if call is None or call.ended:  # what a client does in the background belongs to no call
            return await self.sync().run(function)
        return await call.run(function)

    async def run(self, function: Callable[[Work], T], work: Work, limit: TimeLimit) -> T:
        """Run this as soon as a thread is free; the wait for one does not count to the limit."""
        async with self._turns:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="work")
            with short_turns(), self._using_processes():
                running = asyncio.get_running_loop().run_in_executor(self._threads, function, work)
                try:
                    async with within(limit.seconds, limit.error()):
                        return await running
                finally:
                    if running.cancelled():
                        work.stop()  # what still runs in the thread ends at its next step

    @contextmanager
    def _using_processes(self) -> Generator[None]:
        """Worker processes that were not needed for a while after this block end."""
        try:
            yield
        finally:
            if self._end_idle is not None:
                self._end_idle.cancel()
            if len(self._processes):
                loop = asyncio.get_running_loop()
                self._end_idle = loop.call_later(_IDLE, self._processes.end_idle)


class SyncWork:
    """The budget of one sync, and where it is spent."""

    def __init__(self, threads: WorkThreads, work: Work) -> None:
        self._threads = threads
        self.work = work
        """What is left."""
        self._turn = asyncio.Lock()
        self._returned = 0

    async def run(self, function: Callable[[Work], T], limit: TimeLimit = NO_LIMIT) -> T:
        """The result of a function that pays for what it does, and may be called twice.

        Raises what it raises, OverBudget too. The limit is for the time that it takes in a thread.
        """
        if not self._turn.locked():  # no thread spends the budget now
            self._take_back()
            tried = self._at_once(function)
            if tried is not None:
                return tried[0]
        async with self._turn:
            self._take_back()
            return await self._threads.run(function, self.work, limit)

    def _at_once(self, function: Callable[[Work], T]) -> tuple[T] | None:
        """The result, alone in a tuple; None if it takes more than a little."""
        whole, little = self.work, Work(at_once=True)
        little.steps = steps = min(whole.steps, _LITTLE_STEPS)
        little.memory = memory = min(whole.memory, _LITTLE_MEMORY)
        try:
            result = function(little)
        # whatever a function raises when it may do no more: it is called again, and raises it then
        except Exception:
            if not little.spent:
                raise
            return None
        finally:
            if not little.spent:
                whole.steps -= steps - little.steps
                whole.memory -= memory - little.memory
        return None if little.spent else (result,)

    def give_back(self, memory: int) -> None:
        """Have so many bytes again that were made and are needed no longer."""
        self._returned += memory

    def _take_back(self) -> None:
        """While no thread spends the budget."""
        if not self.work.spent:
            self.work.memory += self._returned
        self._returned = 0

    def again(self) -> "SyncWork":
        """A copy with what is left now, to repeat a step that another writer made obsolete."""
        work = self._threads.new_work()
        work.steps, work.memory = self.work.steps, self.work.memory
        return SyncWork(self._threads, work)


class CallWork:
    """The computations of one call to a store, such as the templates of its request.

    It is paid by the syncs that the call is made for: there may be several, as equal reads are one call. The
    one that has most left pays; if that is not enough the next one does. An object that has used up its
    budget fails no other's read. The memory is given back when the call has ended.
    """

    __slots__ = ("_borrowed", "_payers", "ended")

    def __init__(self, payers: Collection[SyncWork]) -> None:
        """`payers` may grow: reads of other objects join."""
        self._payers = payers
        self._borrowed: list[tuple[SyncWork, int]] = []
        self.ended = False

    async def run(self, function: Callable[[Work], T]) -> T:
        """As `SyncWork.run`."""
        while True:
            payer = max(self._payers, key=_left)
            payer.work.take(0, 0)  # raises OverBudget if no one has anything left
            try:
                result, memory = await payer.run(lambda work: _with_memory(function, work))
            except OverBudget:
                if not payer.work.spent or all(each.work.spent for each in self._payers):
                    raise
            else:
                self._borrowed.append((payer, memory))
                return result

    def end(self) -> None:
        """Give back the memory, and drop the payers: tasks that outlive the call keep its context."""
        self.ended = True
        for payer, memory in self._borrowed:
            payer.give_back(memory)
        self._borrowed.clear()
        self._payers = ()


call_work: Final[ContextVar[CallWork | None]] = ContextVar("call_work", default=None)
"""That of the call that is being made."""


def _left(payer: SyncWork) -> tuple[bool, int]:
    return not payer.work.spent, payer.work.steps


def _with_memory(function: Callable[[Work], T], work: Work) -> tuple[T, int]:
    """The result, and the bytes that were made for it."""
    before = work.memory
    return function(work), before - work.memory
