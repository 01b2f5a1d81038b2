"""Threads that take many jobs at a time."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from syncret.daemon.homes.filesystem.output.group_commit import MOST, THREADS, Hands


class Work:
    """Remembers batches; a negative number fails, zero is a bug, and a gate may hold the threads up."""

    def __init__(self) -> None:
        self.batches: list[Sequence[int]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, jobs: Sequence[int]) -> list[Exception | None]:
        self.gate.wait()
        if 0 in jobs:
            raise ZeroDivisionError
        self.batches.append(jobs)
        return [ValueError(str(job)) if job < 0 else None for job in jobs]


async def test_what_is_asked_for_together_is_shared_among_the_threads() -> None:
    work = Work()
    hands = Hands(work)
    await asyncio.gather(*map(hands.do, range(1, 9)))
    assert sorted(job for batch in work.batches for job in batch) == list(range(1, 9))
    assert [len(batch) for batch in work.batches] == [8 // THREADS] * THREADS


async def test_what_comes_while_all_are_busy_makes_the_next_batches() -> None:
    work = Work()
    hands = Hands(work)
    work.gate.clear()
    first = [asyncio.ensure_future(hands.do(job)) for job in range(1, THREADS + 1)]
    await asyncio.sleep(0.05)
    later = [asyncio.ensure_future(hands.do(job)) for job in range(100, 100 + THREADS * MOST + 5)]
    await asyncio.sleep(0.05)
    assert work.batches == []
    work.gate.set()
    await asyncio.gather(*first, *later)
    sizes = [len(batch) for batch in work.batches]
    assert sum(sizes) == len(first) + len(later)
    assert max(sizes) == MOST


async def test_a_failure_is_that_of_its_own_job() -> None:
    hands = Hands(Work())
    outcomes = await asyncio.gather(*map(hands.do, (1, -2, 3)), return_exceptions=True)
    assert [type(each) for each in outcomes] == [type(None), ValueError, type(None)]


async def test_a_bug_is_told_to_all_of_the_batch_and_the_thread_goes_on() -> None:
    hands = Hands(Work())
    with pytest.raises(ZeroDivisionError):
        await hands.do(0)
    for _ in range(2 * THREADS):
        await hands.do(1)


async def test_who_is_cancelled_waits_until_the_job_is_done() -> None:
    work = Work()
    hands = Hands(work)
    work.gate.clear()
    asking = asyncio.ensure_future(hands.do(-1))
    await asyncio.sleep(0.05)
    asking.cancel()
    await asyncio.sleep(0.05)
    assert not asking.done()
    work.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert work.batches == [[-1]]


async def test_a_disk_that_hangs_takes_no_thread_from_others() -> None:
    """Names of servers are looked up in the loop's own threads, of which a small machine has five."""
    work = Work()
    work.gate.clear()
    with ThreadPoolExecutor(THREADS) as others:
        asyncio.get_running_loop().set_default_executor(others)
        hands = Hands(work)
        hanging = [asyncio.ensure_future(hands.do(job)) for job in range(1, THREADS + 1)]
        await asyncio.sleep(0.05)
        try:
            async with asyncio.timeout(5):
                assert await asyncio.to_thread(sum, (1, 2)) == 3
        finally:
            work.gate.set()
            await asyncio.gather(*hanging)
