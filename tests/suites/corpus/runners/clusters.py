"""Plays cases on a real API server: the engine on the cluster home, and the clock moved by hand.

Many cases go on at once, each in a namespace of its own that stands for `default`, step by step together. A
case that speaks of namespaces or of cluster-wide kinds, or moves the clock by more than the pause after each
step, has the server to itself.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, Final

from msgspec import convert

from syncret.config.durations import parse_duration
from syncret.config.errors import Problem
from syncret.config.meta import Document, GroupKind, ObjectRef, ref_of
from syncret.config.resources.kinds import NAMESPACE, Kinds
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import HomeError, Invalid, NotFound, StoredObject
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.streams import is_older
from syncret.daemon.simulate.scenario import Fault, ObjectName, Patch
from syncret.providers.contract import Provider
from syncret.providers.fake.simulation import simulated
from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import Unknown
from tests.suites.corpus.runners.scenarios import START, Translated, translate
from tests.suites.corpus.runners.simulations import Simulation
from tests.suites.corpus.runners.worlds import Recorders, World, manifests, needs_the_server
from tests.support.servers.kube.authors import Author, Written
from tests.support.servers.kube.running import KubeApi

AT_ONCE: Final = 40
TAKEN_IN_WITHIN: Final = 60.0
_START: Final = datetime.fromisoformat(START).timestamp()
OF_THE_SERVER: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
"""Namespaces that are there from the start."""


class StoppedClock(Clock):
    """A wall clock that stands still, whatever the requests to a real server take, and is moved by hand."""

    def __init__(self) -> None:
        super().__init__()
        self._moment = _START

    def now(self) -> float:
        return self._moment

    def loop_time(self, moment: float) -> float:
        return self._loop.time() if moment <= self._moment else math.inf

    def move(self, moment: float) -> None:
        """Let it be that time."""
        ahead, self._moment = moment - self._moment, moment
        for listener in self._listeners:
            listener(ahead)


class Player:
    """Plays worlds on one running engine."""

    def __init__(
        self,
        running: RunningEngine,
        author: Author,
        clock: StoppedClock,
        recorders: Recorders,
        registry: Registry,
    ) -> None:
        self._running = running
        self._author = author
        self._clock = clock
        self._recorders = recorders
        self._followed = frozenset(Kinds(registry).names())

    async def play(self, worlds: Sequence[World]) -> None:
        """All steps of these worlds, and what is left of them taken away."""
        self._recorders.worlds = worlds
        kinds = self._kinds(worlds)
        for place in range(max(len(world.steps) for world in worlds)):
            active = [world for world in worlds if len(world.steps) > place]
            await self._step(active, place)
            objects = await self._objects(kinds, worlds)
            for world in active:
                world.told(self._clock.now(), _shown(objects, world))
        await self._clear(kinds, worlds)

    async def _step(self, worlds: Sequence[World], place: int) -> None:
        written: list[Written] = []
        for world in worlds:
            world.rejected = []
            faults = world.steps[place].get("faults", ())
            world.recorder.begin_step([convert(fault, Fault) for fault in faults])
        for part in await asyncio.gather(*(self._commands(world, world.steps[place]) for world in worlds)):
            written += part
        await self._taken_in(written)
        if not written:
            self._running.engine.requeue_all()
        await self._running.engine.wait_idle()
        await self._advance(max(parse_duration(world.steps[place]["advance"]) for world in worlds))

    # ------------------------------------------------------------------------------------------- commands
    async def _commands(self, world: World, step: Document) -> Sequence[Written]:
        written: list[Written | None] = []
        for item in step.get("apply", ()):
            document = world.placed(item)
            written.append(await self._command(world, document, self._author.apply(document)))
        for patch in (convert(each, Patch) for each in step.get("patch", ())):
            ref = _ref(patch, world)
            written.append(
                await self._command(world, _named(patch, ref), self._author.patch(ref, patch.merge))
            )
        for gone in (convert(each, ObjectName) for each in step.get("delete", ())):
            ref = _ref(gone, world)
            written.append(await self._command(world, _named(gone, ref), self._author.remove(ref)))
        return [each for each in written if each is not None]

    async def _command(self, world: World, document: Document, command: Awaitable[Written]) -> Written | None:
        try:
            return await command
        except HomeError as error:
            problems = (error.problems if isinstance(error, Invalid) else ()) or (
                Problem(path="", message=str(error)),
            )
            metadata = document["metadata"]
            world.rejected.append(
                {
                    "object": {
                        "apiVersion": document["apiVersion"],
                        "kind": document["kind"],
                        "namespace": metadata.get("namespace") or "",
                        "name": metadata["name"],
                    },
                    "problems": [problem.as_document() for problem in problems],
                }
            )
            return None

    async def _taken_in(self, written: Iterable[Written]) -> None:
        """Wait until the engine has heard of these writes; nothing could call us when it has."""
        for each in written:
            end = time.monotonic() + TAKEN_IN_WITHIN
            while each.ref.group_kind in self._followed and not await self._has(each):
                assert time.monotonic() < end, f"the engine never heard of {each}"
                await asyncio.sleep(0.002)

    async def _has(self, written: Written) -> bool:
        known = self._running.inventory.get(written.ref)
        if known is None:
            return not written.version or not await self._author.has(written.ref)
        if known.uid != written.uid:
            return not is_older(known.resource_version, written.version)
        return bool(written.version) and not is_older(known.resource_version, written.version)

    # ----------------------------------------------------------------------------------------------- time
    async def _advance(self, ahead: float) -> None:
        """From due time to due time, so that what is due in between runs when it is due."""
        end = self._clock.now() + ahead
        while self._clock.now() < end:
            self._clock.move(min(end, self._next_due()))
            await self._running.engine.wait_idle()

    def _next_due(self) -> float:
        inventory, engine = self._running.inventory, self._running.engine
        return min(
            (
                due
                for kind in self._followed
                for stored in inventory.list(kind)
                if (due := engine.due(stored.ref)) is not None
            ),
            default=math.inf,
        )

    # -------------------------------------------------------------------------------------------- objects
    @staticmethod
    def _kinds(worlds: Sequence[World]) -> frozenset[GroupKind]:
        """The kinds of which the worlds may have objects."""
        found = set(_ALWAYS)
        for world in worlds:
            for document in manifests(world.steps):
                found.add(ref_of(document).group_kind)
        return frozenset(found)

    async def _objects(self, kinds: Iterable[GroupKind], worlds: Sequence[World]) -> Sequence[StoredObject]:
        """All objects, once nothing is left of what lost its owner."""
        namespaces = self._namespaces(worlds)
        while True:
            objects = await self._author.list(kinds, namespaces)
            collected = await self._author.collect(objects)
            if not collected:
                return objects
            await self._taken_in(collected)
            await self._running.engine.wait_idle()

    def _namespaces(self, worlds: Sequence[World]) -> Sequence[str] | None:
        return None if len(worlds) == 1 else [world.namespace for world in worlds]

    async def _clear(self, kinds: Iterable[GroupKind], worlds: Sequence[World]) -> None:
        """Delete everything, in the way that its finalizers allow, then in any way."""
        for attempt in range(4):
            left = [
                stored
                for stored in await self._author.list(kinds, self._namespaces(worlds))
                if stored.ref.kind != "Namespace"
            ]
            if not left:
                break
            await asyncio.gather(*(self._take_away(stored.ref, release=attempt > 0) for stored in left))
            await self._running.engine.wait_idle()
        ended = [
            stored
            for stored in await self._author.list([NAMESPACE.group_kind])
            if stored.ref.name not in OF_THE_SERVER
        ]
        for stored in ended:
            await self._author.release(stored.ref)
            self._author.end_namespace(stored.ref.name)
        await self._author.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
        await self._taken_in(Written(stored.ref, stored.uid, "") for stored in ended)
        self._clock.move(_START)
        await self._running.engine.wait_idle()

    async def _take_away(self, ref: ObjectRef, *, release: bool) -> None:
        try:
            if release:
                await self._author.release(ref)
            await self._author.remove(ref)
        except NotFound:
            pass  # it went with another


_ALWAYS: Final = frozenset(
    GroupKind(group, kind)
    for group, kinds in {
        "": ("Secret", "ConfigMap", "Namespace"),
        "external-secrets.io": ("ExternalSecret", "PushSecret"),
        "generators.external-secrets.io": ("GeneratorState",),
    }.items()
    for kind in kinds
)


def _ref(named: ObjectName, world: World) -> ObjectRef:
    return named.ref._replace(namespace=world.namespace_of(named.namespace))


def _named(named: ObjectName, ref: ObjectRef) -> Document:
    return {
        "apiVersion": named.api_version,
        "kind": named.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
    }


def _shown(objects: Sequence[StoredObject], world: World) -> list[Document]:
    """The objects of a world as `kubectl get` shows them."""
    shown: list[Document] = []
    for stored in objects:
        if world.namespace in {"default", stored.ref.namespace}:
            document = stored.document
            document["metadata"].pop("managedFields", None)
            shown.append(document)
    return shown


@asynccontextmanager
async def player(access: Access, api: KubeApi, flags: Sequence[str]) -> AsyncGenerator[Player]:
    """The engine with these flags, on that server."""
    registry, clock, recorders = Registry(), StoppedClock(), Recorders()
    settings = Settings(
        spread=False,
        batch_window=0.0,
        requests_per_second=1e6,
        burst=1_000_000,
        allow_generic_targets="unsafe-allow-generic-targets" in flags,
    )

    def substitute(store: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        del store
        return simulated(provider, None)

    hooks = EngineOverrides(
        observer=recorders, applied=recorders.applied, faults=recorders.fault, substitute=substitute
    )
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(cluster_home(access, catalog=registry))
        author = Author(await stack.enter_async_context(cluster_home(access, catalog=registry)), api)
        running = await stack.enter_async_context(
            run_engine(home, registry=registry, settings=settings, clock=clock, hooks=hooks)
        )
        await running.engine.wait_idle()
        yield Player(running, author, clock, recorders, registry)


async def played(
    cases: Sequence[Case],
    access: Access,
    api: KubeApi,
    translate: Callable[[Case, str], Translated] = translate,
) -> Mapping[Case, Simulation | str]:
    """What became of every case, or why it was not played; `translate` is what makes scenarios of them."""
    outcomes: dict[Case, Simulation | str] = {}
    groups: dict[tuple[str, ...], list[tuple[Case, World, bool]]] = {}
    for number, case in enumerate(cases):
        try:
            translated = translate(case, f"case-{number:04}")
        except Unknown as error:
            outcomes[case] = str(error)
        else:
            alone = needs_the_server(case, translated)
            flags: tuple[str, ...] = tuple(translated.document["spec"]["flags"])
            groups.setdefault(flags, []).append((case, World(translated, alone=alone), alone))
    for flags, group in groups.items():
        async with player(access, api, flags) as engine:
            together = [each for each in group if not each[2]]
            batches = [together[start : start + AT_ONCE] for start in range(0, len(together), AT_ONCE)]
            for batch in [*batches, *([each] for each in group if each[2])]:
                await engine.play([world for _, world, _ in batch])
                for case, world, _ in batch:
                    outcomes[case] = Simulation(world.translated, world.results)
    return outcomes
