"""The gate for writes: closed while the home is overloaded (I14), and never short of a place.

Those that wait may be cancelled at any moment, and their places go to others.
"""

import asyncio
from functools import partial
from itertools import pairwise

import pytest

from syncret.daemon.engine.writes import FEWEST, GOOD_WRITES, WriteGate
from syncret.daemon.homes.contract import TooManyRequests


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


class Server:
    """Refuses writes while it is overloaded, and notes when each came."""

    def __init__(self, *refusals: float | None) -> None:
        self.refusals: list[float | None] = [*refusals]
        self.came: list[float] = []
        self.busy = self.most_busy = 0

    async def write(self) -> str:
        self.came.append(asyncio.get_running_loop().time())
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        await asyncio.sleep(1)
        self.busy -= 1
        if self.refusals:
            raise TooManyRequests("too many requests", retry_after=self.refusals.pop(0))
        return "done"


async def together(gate: WriteGate, server: Server, count: int, *, urgent: bool = True) -> list[str]:
    return list(await asyncio.gather(*(gate.call(server.write, urgent=urgent) for _ in range(count))))


async def test_the_gate_is_closed_for_as_long_as_the_home_asks() -> None:
    gate, server = WriteGate(24), Server(10.0)
    assert await together(gate, server, 1) == ["done"]
    assert server.came == [0, 11]


async def test_who_waits_for_a_place_does_not_pass_a_closed_gate() -> None:
    gate, server = WriteGate(24), Server(*[30.0] * 24)
    assert await together(gate, server, 60) == ["done"] * 60
    assert not [came for came in server.came if 0 < came < 31]


async def test_a_burst_of_refusals_halves_the_writes_once() -> None:
    gate, server = WriteGate(24), Server(*[1.0] * 24)
    await together(gate, server, 24)
    assert gate.limit == 12
    server.refusals += [1.0] * 12
    server.most_busy = 0
    await together(gate, server, 40)
    assert server.most_busy == 12
    assert gate.limit == 6


async def test_a_few_writes_are_left_and_good_ones_bring_more() -> None:
    gate = WriteGate(8)
    for _ in range(5):
        await together(gate, Server(1.0), 1)
    assert gate.limit == FEWEST
    await together(gate, Server(), GOOD_WRITES)
    assert gate.limit == FEWEST + 1


async def test_without_a_word_of_the_home_pauses_double_up_to_half_a_minute() -> None:
    gate, server = WriteGate(24), Server(*[None] * 8)
    await together(gate, server, 1)
    pauses = [later - former - 1 for former, later in pairwise(server.came)]
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]


async def test_urgent_writes_come_first_once_the_gate_opens() -> None:
    gate, done = WriteGate(1), list[str]()

    async def write(name: str) -> None:
        done.append(name)

    closing = asyncio.create_task(gate.call(Server(5.0).write, urgent=True))
    await asyncio.sleep(2)
    async with asyncio.TaskGroup() as group:
        for name in ("periodic", "urgent"):
            group.create_task(gate.call(partial(write, name), urgent=name == "urgent"))
    await closing
    assert done == ["urgent", "periodic"]
