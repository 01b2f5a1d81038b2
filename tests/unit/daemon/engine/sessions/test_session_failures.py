"""No answer, too many calls, failed logins, stores that cannot be served."""

import asyncio

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Json
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.contract import Provider
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.values import RemoteRef
from tests.unit.daemon.engine.sessions.support import Make, read_one
from tests.unit.daemon.engine.support import Manager, ManagerSpec, OneProvider, Recorder, settings, store


async def test_no_answer_in_time_is_unavailable(make: Make, manager: Manager) -> None:
    manager.gate.clear()
    session = (await make(call_timeout=30.0)).session(store(), "default")
    error = await read_one(session, "a")
    assert isinstance(error, Unavailable)
    assert asyncio.get_running_loop().time() == 30


@pytest.mark.parametrize(
    ("errors", "calls", "answer"),
    [
        pytest.param([Unavailable("x")], 2, b"1", id="once unavailable"),
        pytest.param([Unavailable("x")] * 2, 3, b"1", id="twice unavailable"),
        pytest.param([Unavailable("x")] * 3, 3, Unavailable, id="unavailable for good"),
        pytest.param([Denied("x")], 1, Denied, id="denied"),
        pytest.param([Malformed("x")], 1, Malformed, id="malformed"),
        pytest.param([Throttled("x")], 1, Throttled, id="throttled"),
    ],
)
async def test_only_unavailable_is_tried_again(
    make: Make, manager: Manager, recorder: Recorder, errors: list[SyncError], calls: int, answer: Json
) -> None:
    manager.errors = list(errors)
    session = (await make(call_attempts=3)).session(store(), "default")
    got = await read_one(session, "a")
    assert got == answer if isinstance(answer, bytes) else isinstance(got, answer)
    assert len(manager.fetches) == len(recorder.calls) == calls
    assert recorder.retries == calls - 1


async def test_throttling_closes_the_gate_of_the_store_alone(make: Make, manager: Manager) -> None:
    sessions = await make()
    manager.errors = [Throttled("slow down", retry_after=120.0)]
    session, other = sessions.session(store(), "default"), sessions.session(store("other"), "default")
    first = await read_one(session, "a")
    assert isinstance(first, Throttled)
    assert first.retry_after == 120
    await asyncio.sleep(20)
    again = await read_one(session, "b")
    assert isinstance(again, Throttled)
    assert again.retry_after == 100
    assert await read_one(other, "b") == b"2"
    assert manager.fetches == [("a",), ("b",)]
    await asyncio.sleep(100)
    assert await read_one(session, "b") == b"2"


async def test_annotations_of_a_store_set_its_rate(make: Make, manager: Manager) -> None:
    sessions = await make()
    annotations = {"syncret.dev/requests-per-second": "2", "syncret.dev/burst": "1"}
    session = sessions.session(store(metadata={"annotations": annotations}), "default")
    await asyncio.gather(*(read_one(session, key) for key in "abcde"))
    assert asyncio.get_running_loop().time() == pytest.approx(2)


@pytest.mark.parametrize("value", ["0", "-1", "fast", "nan"])
async def test_a_wrong_rate_is_told(make: Make, manager: Manager, value: str) -> None:
    sessions = await make()
    wrong = store(metadata={"annotations": {"syncret.dev/requests-per-second": value}})
    with pytest.raises(Malformed, match="requests-per-second must be a number above 0"):
        await sessions.session(wrong, "default").probe()


async def test_a_failed_login_is_not_repeated_by_everyone(
    make: Make, manager: Manager, recorder: Recorder
) -> None:
    manager.open_errors = [Denied("wrong password"), Denied("wrong password")]
    session = (await make(retry_min=10.0)).session(store(), "default")
    assert isinstance(await read_one(session, "a"), Denied)
    assert isinstance(await read_one(session, "a"), Denied)
    assert len(manager.open_errors) == 1
    await asyncio.sleep(10)
    assert isinstance(await read_one(session, "a"), Denied)
    await asyncio.sleep(19)
    assert isinstance(await read_one(session, "a"), Denied)
    await asyncio.sleep(1)
    assert await read_one(session, "a") == b"1"
    assert [type(error) for error in recorder.opens] == [Denied, Denied, type(None)]


async def test_a_login_that_hangs_is_unavailable(make: Make, manager: Manager) -> None:
    manager.open_delay = 1000
    session = (await make(call_timeout=30.0)).session(store(), "default")
    assert isinstance(await read_one(session, "a"), Unavailable)
    assert asyncio.get_running_loop().time() == 30


async def test_retry_settings_of_a_store_are_kept(make: Make, manager: Manager) -> None:
    sessions = await make()
    wished = store(beside={"retrySettings": {"maxRetries": 4, "retryInterval": "7s"}})
    manager.errors = [Unavailable("x")] * 4
    assert await read_one(sessions.session(wished, "default"), "a") == b"1"
    assert asyncio.get_running_loop().time() == 28


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param({"provider": {"nowhere": {}}}, "there is no provider 'nowhere'", id="unknown"),
        pytest.param({"provider": {}}, "does not fit its schema", id="none"),
        pytest.param({"provider": {"manager": {"token": 1}}}, "does not fit its schema", id="wrong type"),
        pytest.param({"provider": {"manager": {}, "fake": {}}}, "does not fit its schema", id="two"),
    ],
)
async def test_a_store_that_cannot_be_served_says_so(make: Make, document: Json, message: str) -> None:
    wrong = store(beside=document)
    session = (await make()).session(wrong, "default")
    with pytest.raises(Malformed, match=message):
        await session.probe()
    [answer] = (await session.read([RemoteRef("a")])).values()
    assert isinstance(answer, Malformed)


async def test_a_provider_without_a_client_is_known_only(home: MemoryCluster, clock: Clock) -> None:
    registry = OneProvider(Provider(SpecType("manager", ManagerSpec)))
    async with SessionPool(registry, home, settings(), clock=clock) as sessions:
        with pytest.raises(Malformed, match="provider manager is known, but this build cannot reach it"):
            await sessions.session(store(), "default").probe()


async def test_a_substitute_serves_in_the_place_of_a_provider(
    manager: Manager, home: MemoryCluster, clock: Clock
) -> None:
    registry = OneProvider(Provider(SpecType("manager", ManagerSpec)))
    real = manager.provider()
    sessions = SessionPool(registry, home, settings(), clock=clock, substitute=lambda ref, provider: real)
    async with sessions:
        assert await read_one(sessions.session(store(), "default"), "a") == b"1"
