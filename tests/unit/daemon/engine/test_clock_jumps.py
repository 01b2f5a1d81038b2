"""The system's clock is moved: what is read was asked for after that, and what is shown makes sense."""

import asyncio

import pytest

from syncret.daemon.engine.clock import Clock
from syncret.daemon.ops import status
from tests.unit.daemon.engine.life import HOUR, Life, store, wanting
from tests.unit.daemon.engine.support import START

pytestmark = pytest.mark.tells_at_once(reason="the moments of calls are counted from the start")


class MovedClock:
    """A clock that an operator sets."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.moved = START
        self.clock = Clock(wall=lambda: self.moved + loop.time())

    def move(self, seconds: float) -> None:
        self.moved += seconds
        self.clock.anchor()


async def test_what_a_jump_makes_due_is_read_again_although_it_was_read_a_moment_ago() -> None:
    time = MovedClock()
    async with Life(time.clock).running(store_workers=1) as life:
        life.manager.values |= {f"k{n}": "v" for n in range(5)}
        await life.apply(store())
        life.manager.delay = 2.0
        for name, key in [("x0", "k0"), ("x", "k"), *((f"x{n}", f"k{n}") for n in range(1, 5))]:
            await life.cluster.apply(wanting(name, key=key))  # an answer is kept for those that wait behind
        await asyncio.sleep(5)
        assert await life.data("x") == {"a": "v"}
        assert await life.data("x4") is None
        life.manager.values["k"] = "new"
        time.move(24 * HOUR)
        await life.settle()
        assert await life.data("x") == {"a": "new"}
        assert life.manager.fetches.count(("k",)) == 2


@pytest.mark.parametrize("seconds", [-HOUR, HOUR])
async def test_the_uptime_is_not_that_of_the_clock(seconds: float) -> None:
    time = MovedClock()
    async with Life(time.clock).running() as life:
        view = life.view()
        await asyncio.sleep(10)
        time.move(seconds)
        assert status.summary(view).uptime_seconds == 10
