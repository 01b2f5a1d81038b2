"""One replica follows another whose last writes its own watch has not told yet."""

import asyncio
from collections import defaultdict
from contextlib import aclosing
from random import Random

import pytest

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from tests.unit.daemon.engine.life import HOUR, SECRET, Life, Troubled
from tests.unit.daemon.engine.test_invariants_passwords import DAILY, OBJECTS, ONCE, Drawing, passwords

pytestmark = pytest.mark.time("virtual")

LAG = Lag()


class Replica(LaggingHome):
    """A home that acts only while it is told to, and knows that it may be behind when it begins."""

    def __init__(self, cluster: MemoryCluster, seed: int) -> None:
        super().__init__(cluster, lag=LAG, chance=Random(seed))  # noqa: S311  # a test
        self._is_active = False
        self._since = 0.0
        self._changed = asyncio.Event()

    def act(self, *, now: bool) -> None:
        self._is_active = now
        self._since = asyncio.get_running_loop().time()
        self._changed.set()

    def owns(self, ref: ObjectRef) -> bool:
        del ref
        return self._is_active

    def is_behind(self, group_kind: GroupKind) -> bool:
        del group_kind
        return asyncio.get_running_loop().time() < self._since + LAG.events

    def _refuse(self) -> None:
        if not self._is_active:
            raise StorageUnavailable("another replica is the active one")

    async def ownership_changed(self) -> None:
        await self._changed.wait()
        self._changed.clear()


def replica(life: Life, cluster: MemoryCluster, seed: int) -> Replica:
    """Another replica for the same cluster."""
    home = Replica(cluster, seed)
    life.cluster, life.home, life.target = cluster, home, Troubled(home)
    return home


async def all_reported(cluster: MemoryCluster) -> bool:
    found = await cluster.list(EXTERNAL_SECRET.group_kind)
    return all(b"refreshTime" in stored.data for stored in found)


@pytest.mark.tells_at_once(reason="it has homes of its own, which lag")
@pytest.mark.parametrize("policy", [pytest.param(ONCE, id="once"), pytest.param(DAILY, id="daily")])
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_i3_what_the_replica_before_generated_is_not_generated_again(
    clock: Clock, seed: int, policy: Document
) -> None:
    drawing = Drawing()
    lives = [Life(clock, generators=[drawing.generator()], seed=seed) for _ in range(2)]
    cluster = lives[0].cluster
    first, second = (replica(life, cluster, seed + number) for number, life in enumerate(lives))
    stood: defaultdict[str, set[str]] = defaultdict(set)

    async def watch() -> None:
        async with aclosing(cluster.watch()) as events:
            async for event in events:
                if event.object is not None and event.object.ref.kind == SECRET:
                    stood[event.object.ref.name].add(event.object.document["data"]["password"])

    watching = asyncio.create_task(watch())
    first.act(now=True)
    async with lives[0].running(), lives[1].running():
        for each in passwords(policy, OBJECTS):
            await cluster.apply(each)
        while not await all_reported(cluster):  # noqa: ASYNC110  # virtual time
            await asyncio.sleep(0.1)
        first.act(now=False)
        await asyncio.sleep(1)
        second.act(now=True)
        await asyncio.sleep(2 * HOUR)
        assert not lives[0].bugs
        assert not lives[1].bugs
    watching.cancel()
    assert len(stood) == OBJECTS
    assert sum(len(values) - 1 for values in stood.values()) == 0
