"""Writes, searches, faults, and one store that hangs."""

import asyncio

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Operation
from syncret.daemon.engine.sessions.circuit_breaker import THRESHOLD
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.errors import SyncError, Unavailable
from syncret.providers.pushes import RemoteTarget
from syncret.providers.values import FindQuery, SecretBytes
from tests.unit.daemon.engine.sessions.support import Make, item, read_one
from tests.unit.daemon.engine.support import NOWHERE, Manager, OneProvider, Recorder, settings, store


async def test_writes_are_told_with_what_was_written(
    make: Make, manager: Manager, recorder: Recorder
) -> None:
    session = (await make()).session(store(namespace=""), "team")
    await session.push(item("new", "value"))
    assert await session.exists(RemoteTarget("new"))
    await session.delete(RemoteTarget("new"))
    assert not await session.exists(RemoteTarget("new"))
    assert [(call.operation, call.namespace, call.failure) for call in recorder.calls] == [
        ("push", "team", None),
        ("exists", "team", None),
        ("delete", "team", None),
        ("exists", "team", None),
    ]
    assert recorder.calls[0].item == item("new", "value")


async def test_writers_of_one_entry_take_turns(make: Make, manager: Manager) -> None:
    manager.delay = 1
    session = (await make()).session(store(), "default")
    await asyncio.gather(*(session.push(item("list", letter)) for letter in "abc"), session.push(item("x")))
    assert manager.values["list"] == "abc"
    assert manager.most_busy == 2, "different entries are written side by side"


async def test_an_entry_of_several_remote_keys_has_one_writer(make: Make, manager: Manager) -> None:
    manager.delay = 1
    manager.entry_of = lambda key: key.partition("/")[0]
    session = (await make()).session(store(), "default")
    await asyncio.gather(*(session.push(item(key, "v")) for key in ("app/user", "app/password", "app")))
    assert manager.most_busy == 1


async def test_found_keys_are_converted(make: Make, manager: Manager) -> None:
    manager.values = {"a/b": "1"}
    session = (await make()).session(store(), "default")
    assert await session.find(FindQuery(name=".*")) == {"a_b": SecretBytes(b"1")}
    assert await session.find(FindQuery(name=".*", conversion="Unicode")) == {"a_U002f_b": SecretBytes(b"1")}


async def test_a_path_that_does_not_exist_is_not_an_empty_one(make: Make) -> None:
    session = (await make()).session(store(), "default")
    assert await session.find(FindQuery(path=NOWHERE)) is None


async def test_equal_searches_are_one(make: Make, manager: Manager) -> None:
    session = (await make()).session(store(), "default")
    await asyncio.gather(*(session.find(FindQuery(name="x")) for _ in range(10)))
    assert manager.finds == 1


async def test_each_page_of_a_search_is_a_call(make: Make, manager: Manager, recorder: Recorder) -> None:
    manager.pages = 5
    manager.delay = 20
    sessions = await make(requests_per_second=0.1, burst=1, call_timeout=30.0)
    session = sessions.session(store(), "team")
    query = FindQuery(name="x")
    assert await session.find(query)
    assert [(call.operation, call.item, call.namespace, call.seconds) for call in recorder.calls] == [
        ("find", query, "team", 20)
    ] * 5, "none of them takes longer than a call may, although the search does"
    [(_, limits)] = sessions.limits()
    assert limits.calls == 5
    assert limits.waited == 0, "twenty seconds are time enough for the bucket"


async def test_a_page_waits_for_the_bucket(make: Make, manager: Manager) -> None:
    manager.pages = 5
    session = (await make(requests_per_second=0.1, burst=1)).session(store(), "default")
    assert await session.find(FindQuery(name="x"))
    assert asyncio.get_running_loop().time() == 40


async def test_a_page_without_an_answer_is_asked_for_again(
    make: Make, manager: Manager, recorder: Recorder
) -> None:
    manager.pages = 3
    manager.errors = [Unavailable("lost")]
    session = (await make(call_attempts=2)).session(store(), "default")
    assert await session.find(FindQuery(name="x"))
    assert (manager.finds, recorder.retries, len(recorder.calls)) == (1, 1, 4)


async def test_an_outage_ends_a_search_before_its_next_page(make: Make, manager: Manager) -> None:
    manager.pages = 100
    session = (await make()).session(store(), "default")
    manager.errors = [Unavailable("lost")] * THRESHOLD
    for _ in range(THRESHOLD):
        with pytest.raises(Unavailable, match="lost"):
            await session.find(FindQuery(name="x"))
    with pytest.raises(Unavailable, match="not answered"):
        await session.find(FindQuery(name="x"))


async def test_a_fault_stands_in_for_the_call(make: Make, manager: Manager, recorder: Recorder) -> None:
    broken = {"read", "push"}

    def faults(operation: Operation, ref: ObjectRef) -> str | None:
        return f"{operation} of {ref} is broken" if operation in broken else None

    sessions = await make(faults=faults)
    session = sessions.session(store(), "default")
    error = await read_one(session, "a")
    assert isinstance(error, SyncError)
    assert str(error) == "read of SecretStore/default/s is broken"
    with pytest.raises(SyncError, match="push"):
        await session.push(item("x"))
    await session.delete(RemoteTarget("x"))
    assert manager.fetches == []
    assert [(call.operation, call.failure is None) for call in recorder.calls] == [
        ("read", False),
        ("push", False),
        ("delete", True),
    ]


async def test_one_store_that_hangs_leaves_nine_alone(make: Make, manager: Manager, clock: Clock) -> None:
    hung = Manager({"a": "1"})
    hung.gate.clear()
    real, stuck = manager.provider(), hung.provider()
    registry = OneProvider(real)
    home = MemoryCluster(now=clock.now)
    sessions = SessionPool(
        registry,
        home,
        settings(drain_timeout=0.0),
        clock=clock,
        substitute=lambda ref, provider: stuck if ref.name == "s0" else provider,
    )
    async with sessions:
        opened = [sessions.session(store(f"s{number}"), "default") for number in range(10)]
        waiting = [asyncio.create_task(read_one(opened[0], "a")) for _ in range(50)]
        for _ in range(20):
            await asyncio.gather(*(read_one(session, "a") for session in opened[1:]))
        assert asyncio.get_running_loop().time() == 0
    assert {type(error) for error in await asyncio.gather(*waiting)} == {Unavailable}


async def test_what_a_session_prints_is_short(make: Make) -> None:
    sessions = await make()
    session = sessions.session(store(), "default")
    assert repr(session) == "<Session default <Channel SecretStore/default/s idle>>"
    await read_one(session, "a")
    assert repr(session) == "<Session default <Channel SecretStore/default/s <LentClient open users=0>>>"
    assert repr(sessions) == "<Sessions stores=1 channels=1 open=1>"
