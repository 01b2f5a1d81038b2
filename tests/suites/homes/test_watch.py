"""Watching: what exists, SYNCED, then every change, once and in order."""

import asyncio
from contextlib import aclosing

import pytest

from syncret.daemon.homes.contract import Home, Invalid, WatchEvent, WatchEventType
from tests.suites.homes.objects import OURS, THING, manifest, ref, replay, secret, take, told


async def test_a_watch_begins_with_what_exists(backend: Home) -> None:
    for name in ("b", "a"):
        await backend.create(manifest(name=name))
    async with aclosing(backend.watch()) as watch:
        changes = await replay(watch)
    assert told(changes) == ["added a", "added b"]
    assert {
        change.object for change in changes if change.object and change.object.ref.group_kind == OURS
    } == set(await backend.list(OURS))
    assert {change.object.ref.group_kind for change in changes if change.object} == set(backend.kinds())


async def test_an_empty_home_is_synced_at_once(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        assert await take(watch, 1) == [WatchEvent(WatchEventType.LISTED)]


async def test_every_change_is_told_once_and_in_order(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch)
        created = await backend.create(manifest(OURS, "a", ""))
        updated = await backend.update(manifest(OURS, "a", "", spec={"x": 1}))
        reported = await backend.update_status(created.ref, {"y": 2}, uid=created.uid)
        await backend.delete(created.ref)
        again = await backend.create(manifest(OURS, "a", ""))
        assert await take(watch, 5) == [
            WatchEvent(WatchEventType.ADDED, created),
            WatchEvent(WatchEventType.MODIFIED, updated),
            WatchEvent(WatchEventType.MODIFIED, reported),
            WatchEvent(WatchEventType.DELETED, reported),
            WatchEvent(WatchEventType.ADDED, again),
        ]


async def test_what_is_no_write_is_no_change(backend: Home) -> None:
    created = await backend.create(manifest())
    await backend.update_status(created.ref, {"a": 1}, uid=created.uid)
    async with aclosing(backend.watch()) as watch:
        await replay(watch)
        await backend.update(manifest())
        await backend.update_status(created.ref, {"a": 1}, uid=created.uid)
        with pytest.raises(Invalid):
            await backend.create({"kind": "Thing"})
        await backend.create(manifest(name="next"))
        assert told(await take(watch, 1)) == ["added next"]


async def test_dropping_the_last_finalizer_is_a_deletion_and_no_change_before(backend: Home) -> None:
    await backend.create(manifest(meta={"finalizers": ["example.com/f"]}))
    async with aclosing(backend.watch()) as watch:
        await replay(watch)
        await backend.delete(ref())
        await backend.update(manifest())
        marked, gone = await take(watch, 2)
    assert told([marked, gone]) == ["modified a", "deleted a"]
    assert gone.object is not None
    assert "finalizers" not in gone.object.document["metadata"]


async def test_a_watch_begins_when_it_is_made(backend: Home) -> None:
    await backend.create(manifest(name="before"))
    async with aclosing(backend.watch()) as watch:
        await backend.delete(ref(name="before"))
        await backend.create(manifest(name="after"))
        assert told(await replay(watch)) == ["added before"]
        assert told(await take(watch, 2)) == ["deleted before", "added after"]


async def test_watchers_do_not_take_from_each_other(backend: Home) -> None:
    async with aclosing(backend.watch()) as early:
        await backend.create(manifest(THING, "a", ""))
        async with aclosing(backend.watch()) as late:
            await backend.create(manifest(THING, "b", ""))
            assert told(await take(early, 3)) == ["added a", "added b"]
            assert told(await take(late, 3)) == ["added a", "added b"]


async def test_a_change_stands_in_the_buffer_when_the_call_returns(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch)
        reader = asyncio.create_task(take(watch, 1))
        await asyncio.sleep(0)
        await backend.create(manifest(THING, "a", ""))
        await asyncio.sleep(0)
        assert told(reader.result()) == ["added a"]


async def test_closing_ends_a_waiting_reader(backend: Home) -> None:
    watch = backend.watch()
    await replay(watch)
    reader = asyncio.create_task(replay(watch))
    await asyncio.sleep(0)
    await watch.aclose()
    assert await reader == []
    await backend.create(manifest())
    with pytest.raises(StopAsyncIteration):
        await anext(watch)


async def test_cancelling_a_read_loses_nothing(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch)
        reader = asyncio.create_task(take(watch, 1))
        await asyncio.sleep(0)
        await backend.create(manifest(THING, "a", ""))
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert told(await take(watch, 1)) == ["added a"]


async def test_what_others_read_cannot_be_changed_behind_their_back(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch)
        stored = await backend.create(manifest(THING, "a", "", spec={"x": [1]}))
        stored.document["spec"]["x"].append(2)
        (change,) = await take(watch, 1)
    assert change.object is not None
    for seen in (change.object, await backend.get(stored.ref)):  # events may leave the content out
        assert seen is not None
        assert seen.document.get("spec", {"x": [1]}) == {"x": [1]}
    assert "x" not in repr(await backend.create(secret("n", stringData={"x": "value"})))
