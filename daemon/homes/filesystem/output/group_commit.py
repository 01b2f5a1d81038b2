"""Runs several writes in step with each other, so that they wait for the disk together.

A careful write waits for the disk: for its files before they get their name, then for the name. One wait of
the file system's journal serves all that was written by then, so thirty writes in step wait as long as one.

A few threads that take waiting jobs in batches.

With a thread for each write there would be a wait for the disk for each, and the threads would mostly take
turns with the event loop. The threads are used for nothing else: a disk that hangs must not block those of
the loop, in which names of servers are looked up.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from types import TracebackType
from typing import Final, Generic, NamedTuple, Self, TypeAlias, TypeVar

from syncret.daemon.homes.contract import HomeError, StorageUnavailable
from syncret.daemon.homes.filesystem.output.root import OutputRoot

J = TypeVar("J")

Outcome: TypeAlias = Exception | None

THREADS: Final = 4
MOST: Final = 32
"""Jobs of one batch."""

_OPEN: Final = 64
"""Files of a batch that may wait for the disk."""


class Sizes(NamedTuple):
    """How much is written at the same time: bounded by the descriptors that may be open."""

    threads: int = THREADS
    jobs: int = MOST
    """Of one batch. Each holds two folders open, maybe that of its namespace, and writes a file."""
    files: int = _OPEN

    @classmethod
    def within(cls, descriptors: int) -> Self:
        """The largest sizes that need no more descriptors."""
        threads = min(THREADS, max(1, descriptors // 32))
        each = descriptors // threads
        jobs = min(MOST, max(1, (each - 1) // 4))
        return cls(threads, jobs, min(_OPEN, max(0, each - 1 - 3 * jobs)))


USUAL: Final = Sizes()


def _do_nothing() -> None:
    """The default of `give_up`: the job runs to its end."""


class BatchExecutor(Generic[J]):
    """Runs jobs in threads. Jobs that are submitted while all threads are busy form their next batches."""

    def __init__(self, work: Callable[[Sequence[J]], Sequence[Outcome]], sizes: Sizes = USUAL) -> None:
        """`work` does the jobs of one batch, and returns the error of each, or None."""
        self._most = sizes.jobs
        self._work = work
        self._waiting: deque[_Request[J]] = deque()
        self._threads = ThreadPoolExecutor(sizes.threads, thread_name_prefix="write")
        self._free = sizes.threads
        self._scheduled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False)

    async def submit(self, job: J, give_up: Callable[[], None] = _do_nothing) -> None:
        """Return when the job is done; raises its error. A caller that is cancelled waits for it, too.

        `give_up` is called on cancellation: a job that takes long may end early.
        """
        loop = asyncio.get_running_loop()
        request = _Request(job, loop.create_future())
        self._waiting.append(request)
        if self._free and not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._start)
        try:
            await request.done
        except asyncio.CancelledError:
            if not request.is_over:
                give_up()
                request.done = loop.create_future()  # the first one was cancelled, the job goes on
                await asyncio.wait([request.done])
                request.done.exception()  # its caller is cancelled: no one else handles it
            raise

    def _start(self) -> None:
        """Share what waits among the threads that are free."""
        self._scheduled = False
        loop = asyncio.get_running_loop()
        while self._waiting and self._free:
            size = min(self._most, -(-len(self._waiting) // self._free))
            batch = [self._waiting.popleft() for _ in range(size)]
            self._free -= 1
            running = loop.run_in_executor(self._threads, self._work, [request.job for request in batch])
            running.add_done_callback(partial(self._ended, batch))

    def _ended(self, batch: Sequence["_Request[J]"], running: asyncio.Future[Sequence[Outcome]]) -> None:
        self._free += 1
        bug = running.exception()
        for request, failure in zip(batch, [bug] * len(batch) if bug else running.result(), strict=True):
            request.is_over = True
            if request.done.done():  # its caller is cancelled in this moment
                continue
            if failure is None:
                request.done.set_result(None)
            else:
                request.done.set_exception(failure)
        self._start()


class _Request(Generic[J]):
    """A job, and what its caller waits for."""

    __slots__ = ("done", "is_over", "job")

    def __init__(self, job: J, done: asyncio.Future[None]) -> None:
        self.job = job
        self.done = done
        self.is_over = False


T = TypeVar("T")

WriteSteps: TypeAlias = Generator[None, None, T]
"""A write, which pauses wherever it is about to wait for the disk, and after every few files of many."""


class Batch:
    """The state that the writes of a batch share: the open folders of their namespaces."""

    def __init__(self, tree: OutputRoot, files: int = _OPEN) -> None:
        """`files` may wait for the disk together."""
        self._tree = tree
        self._folders: dict[str, int] = {}
        self._renamed: set[str] = set()
        self._failed: dict[str, OSError] = {}
        self._room = files

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for folder in self._folders.values():
            os.close(folder)

    def folder(self, namespace: str) -> int:
        """The open folder of a namespace, created if missing. Raises OSError and StorageUnavailable."""
        folder = self._folders.get(namespace)
        if folder is None:
            folder = self._folders[namespace] = self._tree.open_namespace(namespace, create=True)
        return folder

    def renamed(self, namespace: str) -> None:
        """Note that a name in this namespace has changed: `sync` waits until it is on the disk."""
        self._renamed.add(namespace)

    def sync(self, namespace: str) -> None:
        """Wait until the names that changed are on the disk, once for all who ask. Raises OSError."""
        if namespace in self._renamed:
            self._renamed.discard(namespace)
            try:
                os.fsync(self._folders[namespace])
            except OSError as error:  # the kernel reports a lost write once, but it concerns all
                self._failed[namespace] = error
        if namespace in self._failed:
            raise self._failed[namespace]

    def may_wait(self, fd: int) -> bool:
        """Whether a written file may stay open until it is waited for; the disk begins to write it then."""
        if self._room == 0:
            return False
        self._room -= 1
        with suppress(OSError):  # a hint, which a file system may not know
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        return True


_Steps: TypeAlias = WriteSteps[None]
Job: TypeAlias = Callable[[Batch], _Steps]
"""A write that joins the batch that it is given."""


def until(stop: threading.Event, job: Job) -> Job:
    """The job, which ends at a pause once it is to stop, and leaves the old files where they are."""

    def steps(batch: Batch) -> _Steps:  # an alias: Python makes these types anew at every `def`
        with closing(job(batch)) as write:
            for _ in write:
                if stop.is_set():
                    raise StorageUnavailable("the daemon stopped before all files were written")
                yield

    return steps


def run_interleaved(writes: Sequence[WriteSteps[T]]) -> list[T | HomeError]:
    """Take each write to its next pause, then each to the one after, until all are over.

    A write that fails does not affect the others: its error takes the place of its result.
    """
    outcomes: dict[int, T | HomeError] = {}
    try:
        while len(outcomes) < len(writes):
            for place, write in enumerate(writes):
                if place in outcomes:
                    continue
                try:
                    next(write)
                except StopIteration as end:
                    outcomes[place] = end.value
                except HomeError as error:
                    outcomes[place] = error
    finally:
        for write in writes:
            write.close()
    return [outcomes[place] for place in range(len(writes))]
