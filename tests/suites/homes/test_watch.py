"""Watching: what exists, SYNCED, then every change, once and in order."""

import asyncio
from contextlib import aclosing

import pytest

from syncret.daemon.homes.contract import Home, Invalid, Watch, WatchEventType
from syncret.daemon.homes.memory.watch import event_of
from tests.suites.homes.objects import OURS, THING, existing, manifest, ref, replay, secret, take, told
from tests.support.homes import delete_by_name


async def test_a_watch_begins_with_what_exists(backend: Home) -> None:
    for name in ("b", "a"):
        await backend.create(manifest(name=name))
    async with aclosing(backend.watch()) as watch:
        changes = await replay(watch, backend)
    assert sorted(told(changes)) == ["added a", "added b"]
    existing_objects = [stored for kind in backend.kinds() for stored in await backend.list(kind)]
    assert {change.object for change in changes} == set(existing_objects)


@pytest.mark.tells_at_once(reason="objects of one kind come in any order")
async def test_a_watch_begins_in_the_order_of_names(backend: Home) -> None:
    for name in ("b", "a"):
        await backend.create(manifest(name=name))
    async with aclosing(backend.watch()) as watch:
        assert told(await replay(watch, backend)) == ["added a", "added b"]


async def test_an_empty_home_lists_nothing(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        assert await replay(watch, backend) == []
        created = await backend.create(manifest(OURS, "a", ""))
        assert await take(watch, 1) == [event_of(WatchEventType.ADDED, created)]


async def test_every_change_is_told_once_and_in_order(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        created = await backend.create(manifest(OURS, "a", ""))
        updated = await backend.update(manifest(OURS, "a", "", spec={"x": 1}))
        reported = await backend.update_status(updated, {"y": 2})
        assert reported is not None
        await delete_by_name(backend, created.ref)
        again = await backend.create(manifest(OURS, "a", ""))
        assert await take(watch, 5) == [
            event_of(WatchEventType.ADDED, created),
            event_of(WatchEventType.MODIFIED, updated),
            event_of(WatchEventType.MODIFIED, reported),
            event_of(WatchEventType.DELETED, reported),
            event_of(WatchEventType.ADDED, again),
        ]


async def test_what_is_no_write_is_no_change(backend: Home) -> None:
    created = await backend.create(manifest())
    await backend.update_status(created, {"a": 1})
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        await backend.update(manifest())
        await backend.update_status(await existing(backend, created.ref), {"a": 1})
        with pytest.raises(Invalid):
            await backend.create({"kind": "Thing"})
        await backend.create(manifest(name="next"))
        assert told(await take(watch, 1)) == ["added next"]


async def test_dropping_the_last_finalizer_is_a_deletion_and_no_change_before(backend: Home) -> None:
    await backend.create(manifest(meta={"finalizers": ["example.com/f"]}))
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        await delete_by_name(backend, ref())
        await backend.update(manifest())
        marked, gone = await take(watch, 2)
    assert told([marked, gone]) == ["modified a", "deleted a"]
    assert gone.object is not None
    assert "finalizers" not in gone.object.document["metadata"]


async def test_a_kind_is_listed_once_there_is_an_object_of_it(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        for name in ("a", "b"):
            await backend.create(manifest(THING, name, ""))
        events = await replay(watch, backend, THING)
        events += await take(watch, 2 - len(events))
        assert sorted(told(events)) == ["added a", "added b"]


@pytest.mark.tells_at_once(reason="a list that is read later lacks what was deleted until then")
async def test_a_watch_begins_when_it_is_made(backend: Home) -> None:
    await backend.create(manifest(name="before"))
    async with aclosing(backend.watch()) as watch:
        await delete_by_name(backend, ref(name="before"))
        await backend.create(manifest(name="after"))
        assert told(await replay(watch, backend)) == ["added before"]
        assert told(await take(watch, 2)) == ["deleted before", "added after"]


async def test_watchers_do_not_take_from_each_other(backend: Home) -> None:
    async with aclosing(backend.watch()) as early:
        await backend.create(manifest(THING, "a", ""))
        async with aclosing(backend.watch()) as late:
            await backend.create(manifest(THING, "b", ""))
            assert sorted(told(await take(early, 2))) == ["added a", "added b"]
            assert sorted(told(await take(late, 2))) == ["added a", "added b"]


@pytest.mark.tells_at_once(reason="that it does is what is tested")
async def test_a_change_stands_in_the_buffer_when_the_call_returns(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        reader = asyncio.create_task(take(watch, 1))
        await asyncio.sleep(0)
        await backend.create(manifest(THING, "a", ""))
        await asyncio.sleep(0)
        assert told(reader.result()) == ["added a"]


async def told_until_the_end(watch: Watch) -> list[str]:
    return told([event async for event in watch])


async def test_closing_ends_a_waiting_reader(backend: Home) -> None:
    watch = backend.watch()
    await replay(watch, backend)
    reader = asyncio.create_task(told_until_the_end(watch))
    await asyncio.sleep(0)
    assert not reader.done()
    await watch.aclose()
    assert await reader == []
    await backend.create(manifest())
    with pytest.raises(StopAsyncIteration):
        await anext(watch)


async def test_cancelling_a_read_loses_nothing(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        reader = asyncio.create_task(take(watch, 1))
        await asyncio.sleep(0)
        await backend.create(manifest(THING, "a", ""))
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert told(await take(watch, 1)) == ["added a"]


async def test_what_others_read_cannot_be_changed_behind_their_back(backend: Home) -> None:
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        stored = await backend.create(manifest(THING, "a", "", spec={"x": [1]}))
        stored.document["metadata"]["name"] = "b"
        (change,) = await take(watch, 1)
    assert change.object is not None
    for seen in (change.object, await backend.get(stored.ref)):  # events may leave the content out
        assert seen is not None
        assert seen.document.get("spec", {"x": [1]}) == {"x": [1]}
    assert "x" not in repr(await backend.create(secret("n", stringData={"x": "value"})))
