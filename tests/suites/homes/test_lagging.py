"""The simulated cluster that lags: late, out of order, with gaps and faults, and in the end complete."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, suppress
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.homes.contract import (
    Conflict,
    HomeError,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
    TooManyRequests,
    Watch,
    WatchEvent,
    WatchEventType,
)
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from syncret.daemon.homes.memory.metadata import counted_uids
from tests.suites.homes.objects import OURS, SECRET, START, THING, manifest, ref, replay, secret, take, told

R = TypeVar("R")

pytestmark = pytest.mark.time("virtual")

FAULTS = Lag(
    skipped=0.3,
    broken=0.2,
    relisted=0.5,
    unknown=0.2,
    conflicts=0.1,
    throttled=0.1,
    unavailable=0.1,
    lost_answers=0.1,
)


def lagging(lag: Lag, *, seed: int = 1) -> LaggingHome:
    cluster = MemoryCluster(now=lambda: START, new_uid=counted_uids())
    return LaggingHome(cluster, lag=lag, chance=Random(seed))  # noqa: S311  # a test


def on_virtual_time(work: Coroutine[Any, Any, R]) -> R:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)


async def record(watch: Watch, into: list[WatchEvent]) -> None:
    async for event in watch:
        into.append(event)  # noqa: PERF401  # what was heard counts, also where the stream never ends


def picture_of(events: list[WatchEvent]) -> dict[ObjectRef, StoredObject]:
    """What a watcher believes that takes the newest version of all that it is told."""
    known: dict[ObjectRef, StoredObject] = {}
    for event in events:
        stored = event.object
        if stored is None or not (stored.is_newer_than(known.get(stored.ref)) or gone(event)):
            continue
        if gone(event):
            known.pop(stored.ref, None)
        else:
            known[stored.ref] = stored
    return known


def gone(event: WatchEvent) -> bool:
    return event.type is WatchEventType.DELETED


async def a_life(seed: int) -> tuple[LaggingHome, list[WatchEvent]]:
    """A home that many write at random, and what a watcher was told until all was announced."""
    home, chance, events = lagging(FAULTS, seed=seed), Random(-seed), list[WatchEvent]()  # noqa: S311
    async with aclosing(home.watch()) as watch, asyncio.TaskGroup() as group:
        reader = group.create_task(record(watch, events))
        for number in range(60):
            await asyncio.sleep(chance.random())
            group.create_task(a_write(home, chance, number))
        await asyncio.sleep(60)
        await home.announced()
        reader.cancel()
    return home, events


async def a_write(home: LaggingHome, chance: Random, number: int) -> None:
    kind = chance.choice([OURS, SECRET, THING])
    one = ref(kind, chance.choice("abc"))
    with suppress(HomeError):
        stored = await home.get(one)
        if stored is None:
            await home.create(manifest(kind, one.name))
        elif chance.random() < 0.3:
            await home.delete(stored)
        else:
            await home.update(manifest(kind, one.name, meta={"labels": {"n": str(number)}}))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40)
def test_whatever_happens_a_watcher_knows_all_in_the_end(seed: int) -> None:
    home, events = on_virtual_time(a_life(seed))
    stored = [each for kind in home.cluster.kinds() for each in home.cluster.snapshot(kind)]
    assert picture_of(events) == {each.ref: each for each in stored}


def test_the_same_seed_gives_the_same_run() -> None:
    assert on_virtual_time(a_life(7))[1] == on_virtual_time(a_life(7))[1]
    assert on_virtual_time(a_life(7))[1] != on_virtual_time(a_life(8))[1]


async def test_kinds_are_listed_one_by_one_and_in_no_order() -> None:
    async def orders(seed: int) -> tuple[list[WatchEvent], float]:
        home, begin = lagging(Lag(), seed=seed), asyncio.get_running_loop().time()
        async with aclosing(home.watch()) as watch:
            first = await anext(watch)
            events = [first] + [await anext(watch) for _ in range(len(home.kinds()) - 1)]
        return events, asyncio.get_running_loop().time() - begin

    one, seconds = await orders(1)
    another, _ = await orders(2)
    assert {event.type for event in one} == {WatchEventType.LISTED}
    assert sorted(event.group_kind for event in one) == sorted(lagging(Lag()).kinds())
    assert [event.group_kind for event in one] != [event.group_kind for event in another]
    assert 1 < seconds <= 10


async def test_objects_overtake_each_other_but_not_themselves() -> None:
    home = lagging(Lag(answers=0))
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        for size in range(10):
            for name in ("a", "b"):
                await home.cluster.apply(manifest(name=name, spec={"size": size}))
        events = await take(watch, 20)
    versions = {
        name: [
            each.object.resource_version for each in events if each.object and each.object.ref.name == name
        ]
        for name in ("a", "b")
    }
    assert all(line == sorted(line, key=int) for line in versions.values())
    assert told(events) != told(
        sorted(events, key=lambda each: int(each.object.resource_version if each.object else 0))
    )


async def test_reads_are_never_stale() -> None:
    home = lagging(Lag())
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        created = await home.create(manifest())
        assert await home.get(created.ref) == created
        assert await home.list(OURS) == [created]
        assert told(await take(watch, 1)) == ["added a"]


async def test_an_event_may_come_before_the_answer_of_its_write() -> None:
    home = lagging(Lag(events=0.0, answers=5.0))
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        write = asyncio.create_task(home.create(manifest()))
        events = await take(watch, 2)  # of its namespace too
        assert not write.done()
        assert await write in [event.object for event in events]


async def test_versions_are_skipped_and_the_newest_comes() -> None:
    home = lagging(Lag(skipped=1.0))
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        for size in range(9):
            await home.cluster.apply(manifest(spec={"size": size}))
        (event,) = await take(watch, 1)
    assert event.object == await home.cluster.get(ref())
    assert event.type is WatchEventType.ADDED


async def test_another_object_of_the_name_may_come_without_the_end_of_the_former() -> None:
    home = lagging(Lag(skipped=1.0))
    former = await home.cluster.apply(manifest())
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        await home.cluster.remove(former.ref)
        latter = await home.cluster.apply(manifest())
        (event,) = await take(watch, 1)
    assert event == WatchEvent(WatchEventType.MODIFIED, OURS, latter)


async def test_what_a_new_list_lacks_is_gone_as_of_that_list() -> None:
    home = lagging(Lag(broken=1.0, relisted=1.0))
    former = await home.cluster.apply(manifest())
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        await home.cluster.apply(manifest(name="b"))  # the watch breaks over it
        await home.cluster.remove(former.ref)
        last = await home.cluster.apply(secret())  # of another kind
        events = await replay(watch, home, OURS)
    assert told(events) == ["deleted a", "added b"]
    assert events[0].object is not None
    assert (events[0].object.uid, events[0].object.resource_version) == (former.uid, last.resource_version)


async def test_a_kind_may_be_unknown_for_a_while() -> None:
    home = lagging(Lag(unknown=1.0))
    await home.cluster.apply(manifest())
    async with aclosing(home.watch()) as watch, asyncio.timeout(60):
        events = [event async for event in _until_listed(watch)]
    assert [event.type for event in events if event.group_kind == OURS] == [
        WatchEventType.UNKNOWN,
        WatchEventType.ADDED,
        WatchEventType.LISTED,
    ]


async def _until_listed(watch: Watch) -> AsyncIterator[WatchEvent]:
    async for event in watch:
        yield event
        if event == WatchEvent(WatchEventType.LISTED, OURS):
            return


async def test_a_lost_answer_is_that_of_a_write_that_happened() -> None:
    home = lagging(Lag(lost_answers=1.0))
    with pytest.raises(OutcomeUnknown):
        await home.create(manifest())
    assert await home.get(ref()) is not None
    with pytest.raises(OutcomeUnknown):
        await home.create(manifest())  # the name is taken, but that is not heard either


@pytest.mark.parametrize(
    ("lag", "refusal"),
    [
        pytest.param(Lag(conflicts=1.0), Conflict, id="409"),
        pytest.param(Lag(throttled=1.0), TooManyRequests, id="429"),
        pytest.param(Lag(unavailable=1.0), StorageUnavailable, id="503"),
    ],
)
async def test_what_is_refused_has_not_happened(lag: Lag, refusal: type[HomeError]) -> None:
    home = lagging(lag)
    with pytest.raises(refusal):
        await home.create(manifest())
    assert await home.cluster.get(ref()) is None
    stored = await home.cluster.apply(manifest())
    for write in (home.update(manifest(spec={})), home.update_status(stored, {"a": 1}), home.delete(stored)):
        with pytest.raises(refusal):
            await write
    assert await home.cluster.get(ref()) == stored


async def test_a_server_that_is_overloaded_says_for_how_long_or_not() -> None:
    home, asked = lagging(Lag(throttled=1.0)), list[float | None]()
    for _ in range(20):
        with pytest.raises(TooManyRequests) as refusal:
            await home.create(manifest())
        asked.append(refusal.value.retry_after)
    assert None in asked
    assert 0 < max(each for each in asked if each is not None) <= home.lag.retry_after
