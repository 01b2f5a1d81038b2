"""The gate for writes: those that wait may be cancelled at any moment, and their places go to others."""

import asyncio

import pytest

from syncret.daemon.engine.writes import WriteGate


@pytest.mark.parametrize("first", ["write", "waiting"])
async def test_writes_that_are_cancelled_together_leave_the_gate_empty(first: str) -> None:
    gate, never = WriteGate(1), asyncio.Event()
    write = asyncio.create_task(gate.call(never.wait, urgent=True))
    waiting = asyncio.create_task(gate.call(never.wait, urgent=True))
    await asyncio.sleep(0)
    for task in (write, waiting) if first == "write" else (waiting, write):
        task.cancel()
    ended = await asyncio.gather(write, waiting, return_exceptions=True)
    assert [type(each) for each in ended] == [asyncio.CancelledError, asyncio.CancelledError]
    assert gate.under_way == 0


async def test_the_place_of_a_cancelled_write_goes_to_the_next_that_waits() -> None:
    gate, never, done = WriteGate(1), asyncio.Event(), asyncio.Event()
    done.set()
    first = asyncio.create_task(gate.call(never.wait, urgent=True))
    second = asyncio.create_task(gate.call(never.wait, urgent=True))
    third = asyncio.create_task(gate.call(done.wait, urgent=True))
    await asyncio.sleep(0)
    second.cancel()
    first.cancel()
    assert await third
    await asyncio.gather(first, second, return_exceptions=True)
    assert gate.under_way == 0
