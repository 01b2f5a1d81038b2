import asyncio
import threading
import time

import pytest

from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.virtual_time import Deadlock, VirtualTimeLoop
from tests.unit.daemon.engine.support import START


async def test_an_hour_costs_nothing() -> None:
    begin = time.monotonic()
    await asyncio.sleep(3600)
    assert asyncio.get_running_loop().time() == 3600
    assert time.monotonic() - begin < 60


async def test_timers_fire_in_order_and_exactly_on_time() -> None:
    loop = asyncio.get_running_loop()
    fired: list[tuple[str, float]] = []
    for name, delay in (("c", 3.0), ("a", 1.0), ("b", 1.5)):
        loop.call_later(delay, lambda each: fired.append((each, loop.time())), name)
    await asyncio.sleep(10)
    assert fired == [("a", 1.0), ("b", 1.5), ("c", 3.0)]


async def test_time_stands_still_while_a_thread_works() -> None:
    loop = asyncio.get_running_loop()
    order: list[str] = []
    loop.call_later(0.001, lambda: order.append("timer"))

    def work() -> str:
        time.sleep(0.05)
        return "thread"

    order.append(await asyncio.to_thread(work))
    await asyncio.sleep(1)
    assert order == ["thread", "timer"]


async def test_a_hundred_threads_are_all_waited_for() -> None:
    results = await asyncio.gather(*(asyncio.to_thread(threading.get_ident) for _ in range(100)))
    assert len(results) == 100
    assert asyncio.get_running_loop().time() == 0


async def test_sockets_are_served() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.write(b"hello\n")
        assert await reader.readline() == b"hello\n"
        writer.close()
        await writer.wait_closed()


def test_a_wait_that_nothing_can_end_is_reported() -> None:
    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner, pytest.raises(Deadlock):
        runner.run(wait_for_ever())


async def test_the_clock_moves_with_the_loop() -> None:
    clock = Clock(START)
    await asyncio.sleep(90)
    assert clock.now() == START + 90
    assert clock.loop_time(START + 100) == 100


async def test_a_jump_of_the_wall_clock_is_told_once() -> None:
    loop = asyncio.get_running_loop()
    offset = START
    clock = Clock(wall=lambda: offset + loop.time())
    jumps: list[float] = []
    clock.on_jump(jumps.append)
    follower = asyncio.create_task(clock.follow())
    await asyncio.sleep(60)
    assert jumps == []
    offset += 3600
    await asyncio.sleep(60)
    assert jumps == [3600]
    assert clock.now() == START + 3720
    follower.cancel()
    await asyncio.wait([follower])


async def test_drift_is_no_jump() -> None:
    loop = asyncio.get_running_loop()
    clock = Clock(wall=lambda: START + loop.time() * 1.01)
    await asyncio.sleep(100)
    assert clock.anchor() == 0.0
