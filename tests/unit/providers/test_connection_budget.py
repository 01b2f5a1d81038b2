"""Calls in progress and open connections: their limits, whose turn it is, and that nothing is lost."""

import asyncio
import socket
from collections import Counter
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from syncret.providers.kit.http import Http
from syncret.providers.network import ConnectionBudget, Egress, Network


class Calls:
    """Calls that go on until they are let go; counts those in progress."""

    def __init__(self, budget: ConnectionBudget) -> None:
        self.budget = budget
        self.running: Counter[str] = Counter()
        self.most = 0
        self.begun: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.release: dict[str, asyncio.Semaphore] = {}

    def start(self, store: str, count: int = 1) -> list[asyncio.Task[None]]:
        self.release.setdefault(store, asyncio.Semaphore(0))
        tasks = [asyncio.create_task(self._call(store)) for _ in range(count)]
        self.tasks += tasks
        return tasks

    async def _call(self, store: str) -> None:
        async with self.budget.turn(store):
            self.begun.append(store)
            self.running[store] += 1
            self.most = max(self.most, self.running.total())
            await self.release[store].acquire()
            self.running[store] -= 1

    def end(self, store: str, count: int = 1) -> None:
        for _ in range(count):
            self.release[store].release()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_without_a_limit_nobody_waits() -> None:
    calls = Calls(ConnectionBudget())
    calls.start("a", 1000)
    await settle()
    assert calls.running["a"] == 1000
    calls.end("a", 1000)
    await asyncio.gather(*calls.tasks)


async def test_one_store_has_at_most_half() -> None:
    calls = Calls(ConnectionBudget(8))
    calls.start("hangs", 20)
    await settle()
    assert calls.running["hangs"] == 4
    calls.start("works")
    await settle()
    assert calls.running["works"] == 1
    calls.end("works")
    calls.end("hangs", 20)
    await asyncio.gather(*calls.tasks)
    assert calls.most == 5


async def test_all_stores_together_have_no_more_and_take_turns() -> None:
    calls = Calls(ConnectionBudget(4))
    for store in "abc":
        calls.start(store, 4)
    await settle()
    assert calls.begun == ["a", "a", "b", "b"]
    for store in "abc":
        calls.end(store, 4)
    await asyncio.gather(*calls.tasks)
    assert calls.most == 4
    assert "c" in calls.begun[4:6]
    assert Counter(calls.begun) == {"a": 4, "b": 4, "c": 4}


async def test_who_came_first_is_first() -> None:
    budget = ConnectionBudget(2)
    order: list[int] = []

    async def call(number: int) -> None:
        async with budget.turn("a"):
            order.append(number)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(call(number))
    assert order == [*range(10)]


@pytest.mark.parametrize("granted", [False, True], ids=["waiting", "granted"])
async def test_a_caller_that_is_cancelled_takes_no_turn_with_it(
    granted: bool,  # noqa: FBT001  # a case
) -> None:
    calls = Calls(ConnectionBudget(2))
    calls.start("a")
    await settle()
    (waiting,) = calls.start("a")
    await settle()
    if granted:
        calls.end("a")
        await asyncio.sleep(0)  # the first call ends, and the turn is granted in the same moment
    waiting.cancel()
    await settle()
    assert waiting.cancelled()
    calls.end("a")
    calls.start("a")
    calls.end("a")
    await asyncio.gather(*calls.tasks, return_exceptions=True)
    assert "in progress=0 waiting=0" in repr(calls.budget)


async def test_those_who_were_cancelled_hold_up_nobody() -> None:
    calls = Calls(ConnectionBudget(2))
    calls.start("a")
    await settle()
    cancelled, last = calls.start("a", 5), calls.start("a")
    await settle()
    calls.end("a")
    for each in cancelled:
        each.cancel()
    await settle()
    assert calls.running["a"] == 1
    calls.end("a")
    await asyncio.gather(*last)


async def test_a_call_that_fails_ends() -> None:
    budget = ConnectionBudget(2)
    with pytest.raises(ZeroDivisionError):
        async with budget.turn("a"):
            raise ZeroDivisionError
    async with budget.turn("a"):
        assert "in progress=1" in repr(budget)


def test_sockets_are_counted_until_they_are_closed() -> None:
    budget = ConnectionBudget(connections=2)
    address = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))
    one, other = budget.open_socket(address), budget.open_socket(address)
    assert (budget.open, budget.crowded) == (2, True)
    one.close()
    one.close()
    assert (budget.open, budget.crowded) == (1, False)
    with socket.socket(fileno=other.detach()):
        assert budget.open == 0


def test_of_very_many_connections_none_is_kept_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncret.providers.network.MOST_KEPT", 1)
    budget = ConnectionBudget(connections=1_000)
    assert not budget.crowded
    with budget.open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))):
        assert budget.crowded


async def served(stack: AsyncExitStack) -> tuple[str, Counter[object]]:
    """The address of a server, and how many requests each of its connections had."""
    connections: Counter[object] = Counter()

    async def answer(request: web.Request) -> web.Response:
        connections[request.transport] += 1  # not its `id`, which another one may have later
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}/", connections


@pytest.mark.parametrize(
    ("most", "pool", "kept"),
    [
        pytest.param(10, 100, True, id="enough"),
        pytest.param(1, 100, False, id="crowded"),
        pytest.param(1, 1, True, id="a login holds for the connection"),
    ],
)
async def test_an_idle_connection_is_closed_when_there_are_too_many(
    most: int,
    pool: int,
    kept: bool,  # noqa: FBT001  # a column
) -> None:
    budget = ConnectionBudget(connections=most)
    network = Network(egress=Egress(), connections=budget)
    async with AsyncExitStack() as stack:
        url, connections = await served(stack)
        async with Http(network=network, connections=pool) as http:
            for _ in range(3):
                assert (await http.request("GET", url, doing="asking")).body == b"ok"
            assert budget.open == int(kept)
        assert budget.open == 0
    assert sorted(connections.values()) == ([3] if kept else [1, 1, 1])


async def test_a_request_that_is_cancelled_leaves_no_connection() -> None:
    budget = ConnectionBudget(connections=1)
    reached, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await reader.read()
        writer.close()
        left.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Http(network=Network(egress=Egress(), connections=budget)) as http:
        request = asyncio.create_task(http.request("GET", f"http://127.0.0.1:{port}/", doing="asking"))
        await reached.wait()
        assert budget.open == 1
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert budget.open == 0
        await left.wait()
