"""A few threads that take waiting jobs in batches.

A thread for each write would wait for the disk as often as there are writes, and most of what it did besides
would be taking turns with the event loop. The threads are nobody else's: a disk that hangs must not take
those of the loop, in which names of servers are looked up.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Final, Generic, Self, TypeAlias, TypeVar

Job = TypeVar("Job")

Outcome: TypeAlias = Exception | None

THREADS: Final = 4
MOST: Final = 32
"""Jobs of one batch."""


class Hands(Generic[Job]):
    """Does jobs in threads. What is asked for while all threads are busy makes their next batches."""

    def __init__(self, work: Callable[[Sequence[Job]], Sequence[Outcome]]) -> None:
        """`work` does the jobs of one batch, and tells for each what it failed with."""
        self._work = work
        self._waiting: deque[tuple[Job, asyncio.Future[None]]] = deque()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="write")
        self._free = THREADS
        self._scheduled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False)

    async def do(self, job: Job) -> None:
        """Return when the job is done; raises what it failed with. Whoever is cancelled waits for it, too."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((job, done))
        if self._free and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._start)
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            await asyncio.wait([done])
            done.exception()  # nobody is left to be told
            raise

    def _start(self) -> None:
        """Share what waits among the threads that are free."""
        self._scheduled = False
        loop = asyncio.get_running_loop()
        while self._waiting and self._free:
            size = min(MOST, -(-len(self._waiting) // self._free))
            batch = [self._waiting.popleft() for _ in range(size)]
            self._free -= 1
            running = loop.run_in_executor(self._threads, self._work, [job for job, _ in batch])
            running.add_done_callback(partial(self._ended, [done for _, done in batch]))

    def _ended(
        self, batch: Sequence[asyncio.Future[None]], running: asyncio.Future[Sequence[Outcome]]
    ) -> None:
        self._free += 1
        bug = running.exception()
        for done, failure in zip(batch, [bug] * len(batch) if bug else running.result(), strict=True):
            if failure is None:
                done.set_result(None)
            else:
                done.set_exception(failure)
        self._start()
