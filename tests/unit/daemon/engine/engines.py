"""A reconciler that remembers its runs, and the world of an engine."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any

from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.queue.from_settings import work_queue
from syncret.daemon.engine.reconciler import Dependency, Outcome
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject, WatchEvent
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from tests.unit.daemon.engine import support
from tests.unit.daemon.engine.support import GROUP, Recorder, manifest, settings

Behaviour = Callable[[ObjectRef, int], Awaitable[Outcome]]
"""What a run does, given whose it is and how many there were before."""


async def content(ref: ObjectRef, run: int) -> Outcome:
    return Outcome()


class Reconciling:
    """A reconciler that remembers its runs. An object's spec names what it depends on, and its lane."""

    def __init__(self, inventory: Inventory, behaviour: Behaviour = content) -> None:
        self.group_kind = GroupKind(GROUP, "ExternalSecret")
        self.behaviour = behaviour
        self.runs: list[tuple[str, float]] = []
        self.seen: dict[str, Any] = {}
        self.known: list[int] = []
        self.busy = 0
        self.most_busy = 0
        self._inventory = inventory
        self.writes: Writes
        self._running: set[ObjectRef] = set()

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        for name in stored.document.get("spec", {}).get("uses", ()):
            yield Dependency(ObjectRef("", "Secret", stored.ref.namespace, name))
        if lane := stored.document.get("spec", {}).get("lane"):
            yield Dependency(support.ref(lane, kind="SecretStore", namespace=stored.ref.namespace))

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        self.writes = writes
        assert ref not in self._running, "one object strictly in order"
        self._running.add(ref)
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        self.known.append(self._inventory.count(self.group_kind))
        before = sum(name == ref.name for name, _ in self.runs)
        self.runs.append((ref.name, asyncio.get_running_loop().time()))
        stored = self._inventory.get(ref)
        self.seen[ref.name] = stored.document["spec"] if stored is not None else None
        try:
            return await self.behaviour(ref, before)
        finally:
            self.busy -= 1
            self._running.discard(ref)

    def times(self, name: str) -> list[float]:
        return [time for each, time in self.runs if each == name]


class World:
    """An engine with one reconciler in a simulated cluster."""

    usual_lag: Lag | None = None
    """How far the engine's home lags behind the cluster."""

    def __init__(self, home: MemoryCluster, clock: Clock, **changes: Json) -> None:
        self.home = home
        self.inventory = Inventory()
        self.reconciling = Reconciling(self.inventory)
        self.recorder = Recorder()
        self.changes: list[WatchEvent] = []
        chance = Random(1)  # noqa: S311  # a test
        lagging = None if self.usual_lag is None else LaggingHome(home, lag=self.usual_lag, chance=chance)
        limits = settings(**changes)
        self.engine = Engine(
            lagging or home,
            [self.reconciling],
            inventory=self.inventory,
            queue=work_queue(clock, limits),
            settings=limits,
            observer=self.recorder,
            listeners=[self],
        )

    def concerns(self, kind: GroupKind) -> bool:
        del kind
        return True

    def notice(self, event: WatchEvent) -> None:
        self.changes.append(event)

    async def create(self, name: str, **spec: Json) -> StoredObject:
        return await self.home.create(manifest("ExternalSecret", name, spec=spec))

    async def change(self, name: str, **spec: Json) -> StoredObject:
        return await self.home.update(manifest("ExternalSecret", name, spec=spec))


Start = Callable[..., AbstractAsyncContextManager[World]]
