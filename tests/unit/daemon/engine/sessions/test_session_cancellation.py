"""Who gives up harms nobody else, wherever it happens."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.errors import Unavailable
from syncret.providers.values import FindQuery, RemoteRef
from tests.unit.daemon.engine.sessions.support import Make, item, read_one
from tests.unit.daemon.engine.support import Manager, OneProvider, Recorder, settings, store


async def test_a_reader_who_gives_up_does_not_cancel_the_others(make: Make, manager: Manager) -> None:
    manager.gate.clear()
    session = (await make()).session(store(), "default")
    first, second = (asyncio.create_task(read_one(session, "a")) for _ in range(2))
    await asyncio.sleep(1)
    first.cancel()
    await asyncio.sleep(1)
    manager.gate.set()
    assert await second == b"1"
    assert first.cancelled()
    assert manager.fetches == [("a",)]


async def test_giving_up_during_the_login_does_not_spoil_it_for_the_others(
    make: Make, manager: Manager
) -> None:
    manager.open_delay = 5
    session = (await make()).session(store(), "default")
    first, second = (asyncio.create_task(read_one(session, "a")) for _ in range(2))
    await asyncio.sleep(1)
    first.cancel()
    assert await second == b"1"
    assert len(manager.opened) == 1


@pytest.mark.parametrize("turns", range(12))
@pytest.mark.parametrize("act", ["read", "find", "push", "probe"])
async def test_cancelled_anywhere_a_session_stays_usable(
    make: Make, manager: Manager, act: str, turns: int
) -> None:
    sessions = await make(idle_close=60.0, requests_per_second=1.0, burst=1)
    session = sessions.session(store(), "default")
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "read": lambda: session.read([RemoteRef("a")]),
        "find": lambda: session.find(FindQuery(name=".*")),
        "push": lambda: session.push(item("p")),
        "probe": session.probe,
    }
    task = asyncio.ensure_future(acts[act]())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert await read_one(session, "a") == b"1"
    await asyncio.sleep(100)
    assert manager.busy == 0
    assert manager.closed == len(manager.opened) == 1


@pytest.mark.parametrize(
    ("seconds", "where"),
    [
        pytest.param(0.5, "opening", id="while the client is opened"),
        pytest.param(1.5, "calling", id="during the call"),
        pytest.param(3.0, "limited", id="while it waits for the bucket"),
    ],
)
async def test_cancelled_at_each_wait_a_session_loses_nothing(
    make: Make, manager: Manager, seconds: float, where: str
) -> None:
    manager.open_delay = manager.delay = 1.0
    session = (await make(requests_per_second=0.2, burst=1)).session(store(), "default")
    if where == "limited":
        assert await read_one(session, "a") == b"1"
    task = asyncio.create_task(session.push(item("p")))
    await asyncio.sleep(seconds - asyncio.get_running_loop().time())
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert "p" not in manager.values
    await session.push(item("p"))
    assert manager.values["p"] == "v"
    assert asyncio.get_running_loop().time() < 8
    assert len(manager.opened) == 1


async def test_leaving_closes_clients_and_cancels_what_hangs(
    manager: Manager, home: MemoryCluster, clock: Clock, recorder: Recorder
) -> None:
    registry = OneProvider(manager.provider())
    limits = settings(drain_timeout=3.0, call_timeout=1000.0)
    async with SessionPool(registry, home, limits, clock=clock, observer=recorder) as sessions:
        session = sessions.session(store(), "default")
        await read_one(session, "a")
        manager.gate.clear()
        hung = asyncio.create_task(read_one(session, "a"))
        await asyncio.sleep(1)
    assert asyncio.get_running_loop().time() == 4
    assert isinstance(await hung, Unavailable)
    assert manager.closed == 1
