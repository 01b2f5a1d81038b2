"""What a simulation needs of a cluster: the same each time, by its own clock, and known to be idle."""

import asyncio
from contextlib import aclosing

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import StoredObject, WatchEventType
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.metadata import counted_uids
from tests.suites.homes.objects import (
    SECRET,
    START,
    THING,
    document_of,
    everything,
    existing,
    manifest,
    owned_by,
    ref,
    replay,
    secret,
    take,
)


async def test_the_same_calls_give_the_same_cluster() -> None:
    async def run() -> dict[ObjectRef, StoredObject]:
        cluster = MemoryCluster(now=lambda: START, new_uid=counted_uids())
        owner = await cluster.create(manifest())
        await cluster.create(secret(meta=owned_by(owner)))
        return await everything(cluster)

    assert await run() == await run()


async def test_timestamps_come_from_the_given_clock() -> None:
    times = iter([START, START + 3600.9])
    cluster = MemoryCluster(now=lambda: next(times))
    await cluster.create(manifest(THING, namespace="", meta={"finalizers": ["example.com/f"]}))
    await cluster.remove(ref(THING, namespace=""))
    metadata = (await document_of(cluster, ref(THING, namespace="")))["metadata"]
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["deletionTimestamp"] == "2026-01-01T01:00:00Z"


async def test_idle_waits_until_every_watcher_has_dealt_with_everything(cluster: MemoryCluster) -> None:
    done: list[str] = []

    async def controller() -> None:
        async with aclosing(cluster.watch()) as watch:
            async for change in watch:
                await asyncio.sleep(0)
                if (
                    change.object
                    and change.object.ref.kind == "Thing"
                    and change.type is WatchEventType.ADDED
                ):
                    await cluster.create(secret(f"of-{change.object.ref.name}"))
                elif change.object:
                    done.append(change.object.ref.name)

    tasks = [asyncio.create_task(controller())]
    await asyncio.sleep(0)
    for name in ("a", "b"):
        await cluster.create(manifest(THING, name))
    async with asyncio.timeout(60):
        await cluster.announced()
    assert done == ["default", "of-a", "of-b"]
    await existing(cluster, ref(SECRET, "of-b"))
    tasks[0].cancel()


async def test_idle_does_not_wait_for_who_has_left(cluster: MemoryCluster) -> None:
    watch = cluster.watch()
    waiter = asyncio.create_task(cluster.announced())
    await asyncio.sleep(0)
    assert not waiter.done()
    await watch.aclose()
    async with asyncio.timeout(60):
        await waiter
        dropped = cluster.watch()
        del dropped
        await cluster.announced()


async def test_a_watch_has_one_reader(cluster: MemoryCluster) -> None:
    async with aclosing(cluster.watch()) as watch:
        await replay(watch, cluster)
        reader = asyncio.create_task(take(watch, 1))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await anext(watch)
        reader.cancel()
