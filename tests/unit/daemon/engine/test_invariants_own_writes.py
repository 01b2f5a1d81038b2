"""I1, I9, I10: what a run wrote is known at once, wakes others at once, and the run itself never."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.lagging import Lag
from tests.unit.daemon.engine.engines import Start, World
from tests.unit.daemon.engine.life import Life, manifest, namespace, secret_ref, store, wanting
from tests.unit.daemon.engine.support import manifest as document
from tests.unit.daemon.engine.support import ref

pytestmark = pytest.mark.tells_at_once(reason="each test has the lag that it is about")

EVENTS_LATER = Lag(events=50.0, answers=0.0)
EVENTS_FIRST = Lag(events=0.0, answers=5.0)
WATCHED = secret_ref("login")


@pytest.fixture(params=[EVENTS_LATER, EVENTS_FIRST], ids=["answer first", "event first"])
def lag(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, usual_lag: None) -> None:
    monkeypatch.setattr(World, "usual_lag", request.param)


def login(value: str) -> dict[str, object]:
    return document("Secret", "login", group="", stringData={"password": value})


async def every_write(world: World, run: ObjectRef) -> None:
    """Each sort of write in its turn: what it answers is known when it returns."""
    writes, inventory = world.reconciling.writes, world.inventory
    created = await writes.create(login("1"))
    assert inventory.get(WATCHED) == created
    updated = await writes.update(login("2"))
    assert inventory.get(WATCHED) == updated
    await writes.delete(updated)
    assert inventory.get(WATCHED) is None
    seen = inventory.get(run)
    assert seen is not None
    held = await writes.set_finalizers(seen, ["example.com/hold"])
    assert inventory.get(run) == held
    await writes.update_status(held, {"conditions": []})
    known = inventory.get(run)
    assert known is not None
    assert known.is_newer_than(held)


async def runs_of_writer(world: World, write: Callable[[ObjectRef], Awaitable[object]]) -> int:
    """How often an object runs within an hour that depends on the Secret and writes so in its first run."""

    async def write_once(ref: ObjectRef, run: int) -> Outcome:
        if run == 0:
            await write(ref)
        return Outcome()

    world.reconciling.behaviour = write_once
    await world.create("x", uses=["login"])
    await world.engine.wait_idle()
    await asyncio.sleep(3600)
    assert not world.recorder.bugs
    return len(world.reconciling.runs)


@pytest.mark.usefixtures("lag")
async def test_i1_i9_an_answer_is_known_before_the_run_goes_on_and_its_event_wakes_nobody(
    start: Start,
) -> None:
    async with start() as world:
        assert await runs_of_writer(world, partial(every_write, world)) == 1


@pytest.mark.usefixtures("lag")
async def test_i9_a_foreign_version_between_two_of_its_own_wakes_it(start: Start) -> None:
    async with start() as world:

        async def write(_: ObjectRef) -> None:
            await world.reconciling.writes.create(login("1"))
            await world.home.apply(login("foreign"))
            await world.reconciling.writes.update(login("2"))

        foreign_was_seen = world.usual_lag is EVENTS_FIRST
        assert await runs_of_writer(world, write) == (2 if foreign_was_seen else 1)


@pytest.mark.usefixtures("lag")
async def test_i9_a_foreign_version_after_its_own_wakes_it(start: Start) -> None:
    async with start() as world:

        async def write(_: ObjectRef) -> None:
            await world.reconciling.writes.create(login("1"))
            await world.home.apply(login("foreign"))

        assert await runs_of_writer(world, write) == 2


async def test_i10_a_secret_that_was_written_is_pushed_before_its_event_comes(clock: Clock) -> None:
    life = Life(clock, lag=Lag(events=10_000.0, answers=0.1))
    push = {
        "secretStoreRefs": [{"name": "s"}],
        "selector": {"secret": {"name": "x"}},
        "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "pushed"}}}],
    }
    life.manager.gate.clear()
    async with life.running(retry_min=3000.0, retry_max=3000.0, call_timeout=100_000.0):
        for each in (store(), wanting(), manifest("PushSecret", "p", push)):
            await life.cluster.apply(each)
        await life.home.announced()
        life.manager.gate.set()
        await asyncio.sleep(5)
        assert life.manager.values.get("pushed") == "v"
        assert life.controllers.inventory.get(secret_ref("x")) is not None


async def test_i10_a_child_that_was_made_is_not_made_again_before_its_event_comes(clock: Clock) -> None:
    life = Life(clock, lag=Lag(events=10_000.0, answers=0.1))
    made: list[str] = []
    create = life.target.create

    async def count(document: dict[str, object], *, field_manager: str = "") -> StoredObject:
        made.append(str(document["kind"]))
        return await create(document, field_manager=field_manager)

    life.target.create = count  # type: ignore[method-assign]
    everywhere = {
        "namespaceSelectors": [{"matchLabels": {"team": "a"}}],
        "externalSecretSpec": wanting()["spec"],
    }
    async with life.running():
        for each in (
            namespace("one", team="a"),
            manifest("ClusterExternalSecret", "c", everywhere, namespace=""),
        ):
            await life.cluster.apply(each)
        await life.home.announced()
        for _ in range(3):
            await asyncio.sleep(5)
            life.controllers.engine.refresh(ref("c", kind="ClusterExternalSecret", namespace=""))
        await life.settle()
    assert made.count("ExternalSecret") == 1
