"""What clients cannot do, and clients that come and go badly."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Json
from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.errors import Malformed, SyncError, Throttled, Unavailable
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work
from tests.unit.daemon.engine.support import START, ManagerSpec, OneProvider, Recorder, settings, store


class Reads:
    """A client that reads, and no more; its values are JSON-like texts that may be broken."""

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, object | SyncError]:
        return {key: key.key for key in keys}

    def value(self, payload: Json, ref: RemoteRef, work: Work) -> SecretBytes | None:
        if payload == "broken":
            raise Malformed("the value is no JSON document")
        return SecretBytes(str(payload).encode())

    def fields(self, payload: Json, ref: RemoteRef, work: Work) -> SecretMap | None:
        return None


class Writes:
    """A client that writes, and no more."""

    async def push(self, item: PushItem) -> None: ...
    async def delete(self, target: RemoteTarget) -> None: ...
    async def exists(self, target: RemoteTarget) -> bool:
        return False


class Both(Reads, Writes):
    """A client that does both."""


async def nothing() -> None:
    """What goes wrong, unless a test says otherwise."""


Wrong = Callable[[], Awaitable[None]]


class Door:
    """Opens one client, and may fail before or after."""

    def __init__(self, client: object) -> None:
        self.client = client
        self.before: Wrong = nothing
        self.after: Wrong = nothing

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[object, None]:
        await self.before()
        yield self.client
        await self.after()

    def provider(self) -> Provider[ManagerSpec]:
        def opening(spec: ManagerSpec, context: OpenContext) -> AbstractAsyncContextManager[object]:
            return self.open()

        return Provider(SpecType("manager", ManagerSpec), opening)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


Enter = Callable[[Door], Awaitable[Session]]


@pytest.fixture
async def enter(clock: Clock, recorder: Recorder) -> AsyncIterator[Enter]:
    entered: list[SessionPool] = []

    async def build(door: Door) -> Session:
        registry = OneProvider(door.provider())
        home = MemoryCluster(now=lambda: START)
        knobs = settings(idle_close=10.0, drain_timeout=0.0)
        sessions = SessionPool(registry, home, knobs, clock=clock, observer=recorder)
        entered.append(await sessions.__aenter__())
        return sessions.session(store(), "default")

    yield build
    for sessions in entered:
        await sessions.__aexit__(None, None, None)


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        pytest.param(Reads(), "ReadOnly", id="reads"),
        pytest.param(Writes(), "WriteOnly", id="writes"),
        pytest.param(Both(), "ReadWrite", id="both"),
    ],
)
async def test_capabilities_are_what_the_client_does(enter: Enter, client: object, expected: str) -> None:
    session = await enter(Door(client))
    assert await session.capabilities() == expected
    assert await session.probe() == "ready", "a client that cannot be probed was opened, at least"


async def test_what_a_client_cannot_do_is_malformed(enter: Enter) -> None:
    writes, reads = await enter(Door(Writes())), await enter(Door(Reads()))
    [answer] = (await writes.read([RemoteRef("a")])).values()
    assert isinstance(answer, Malformed)
    assert str(answer) == "provider manager cannot read"
    with pytest.raises(Malformed, match="cannot find"):
        await writes.find(FindQuery(name="x"))
    target = RemoteTarget("a")
    for act in (
        reads.push(PushItem("a", "", SecretBytes(b""))),
        reads.delete(target),
        reads.exists(target),
    ):
        with pytest.raises(Malformed, match="cannot write"):
            await act


async def test_a_value_that_makes_no_sense_stays_with_its_key(enter: Enter) -> None:
    session = await enter(Door(Reads()))
    good, broken = (await session.read([RemoteRef("good"), RemoteRef("broken")])).values()
    assert good == SecretBytes(b"good")
    assert isinstance(broken, Malformed)
    assert await session.extract([RemoteRef("good")]) == {RemoteRef("good"): None}


async def test_a_good_bye_that_fails_is_told_and_does_no_harm(enter: Enter, recorder: Recorder) -> None:
    async def failing() -> None:
        raise ConnectionResetError("a text")

    door = Door(Reads())
    door.after = failing
    session = await enter(door)
    for _ in range(2):
        await session.read([RemoteRef("a")])
        await asyncio.sleep(20)
    assert recorder.closes == ["ConnectionResetError"] * 2


async def test_a_good_bye_that_hangs_is_cut_short(enter: Enter, recorder: Recorder) -> None:
    async def hanging() -> None:
        await asyncio.sleep(1000)

    door = Door(Reads())
    door.after = hanging
    session = await enter(door)
    await session.read([RemoteRef("a")])
    await asyncio.sleep(16)
    assert recorder.closes == ["TimeoutError"]


async def test_a_bug_while_opening_surfaces_and_is_tried_anew(enter: Enter, recorder: Recorder) -> None:
    async def broken() -> None:
        raise ZeroDivisionError

    door = Door(Reads())
    door.before = broken
    session = await enter(door)
    with pytest.raises(ZeroDivisionError):
        await session.read([RemoteRef("a")])
    door.before = nothing
    assert await session.read([RemoteRef("a")]) == {RemoteRef("a"): SecretBytes(b"a")}


async def test_a_throttled_login_waits_for_the_servers_word(enter: Enter) -> None:
    calls: list[float] = []

    async def throttled() -> None:
        calls.append(asyncio.get_running_loop().time())
        raise Throttled("slow down", retry_after=50)

    door = Door(Reads())
    door.before = throttled
    session = await enter(door)
    for _ in range(6):
        [answer] = (await session.read([RemoteRef("a")])).values()
        assert isinstance(answer, Throttled)
        await asyncio.sleep(10)
    assert calls == [0, 50]


async def test_a_client_closed_under_a_caller_is_unavailable(clock: Clock) -> None:
    door = Door(Reads())
    registry = OneProvider(door.provider())
    home = MemoryCluster(now=lambda: START)
    async with SessionPool(registry, home, settings(drain_timeout=0.0), clock=clock) as sessions:
        session = sessions.session(store(), "default")
        reading = asyncio.create_task(session.read([RemoteRef("a")]))
        await asyncio.sleep(0)
    [answer] = (await reading).values()
    assert isinstance(answer, Unavailable)


async def test_what_a_store_needs_is_known_before_it_is_opened(clock: Clock) -> None:
    door = Door(Reads())
    home = MemoryCluster(now=lambda: START)
    async with SessionPool(OneProvider(door.provider()), home, settings(), clock=clock) as sessions:
        needy = store(spec={"token": {"name": "login", "key": "token"}})
        assert list(sessions.credentials(needy)) == [ObjectRef("", "Secret", "default", "login")]
        assert list(sessions.credentials(store("x", beside={"provider": {"nowhere": {}}}))) == []
