"""Hands out sessions: one client for each store identity, one token bucket and one memory for each store."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from weakref import WeakSet

from syncret.config.catalog import Scope
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import role_of
from syncret.config.settings import Settings
from syncret.daemon.descriptors import descriptors
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Faults, NullObserver, Observer
from syncret.daemon.engine.queue.workqueue import WorkQueue
from syncret.daemon.engine.retry import LoginBackoff
from syncret.daemon.engine.sessions.calls import (
    CallEnvironment,
    CallPath,
    ChangingCalls,
    GeneratorCalls,
    Recheck,
    StoreState,
    ignore_recheck,
)
from syncret.daemon.engine.sessions.circuit_breaker import Reachability
from syncret.daemon.engine.sessions.credentials import StoreCredentials
from syncret.daemon.engine.sessions.reads import KeptAnswers
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.engine.sessions.store_client import StoreClient
from syncret.daemon.engine.sessions.store_config import (
    SessionKey,
    StoreConfig,
    credentials_of,
    load_store_config,
)
from syncret.daemon.engine.sessions.tasks import TaskOwner
from syncret.daemon.engine.templates import TemplateLimits, Templates
from syncret.daemon.engine.work import SyncWork, WorkLimits, WorkThreads
from syncret.daemon.homes.contract import Home, StoredObject, WatchEvent, WatchEventType
from syncret.providers.answer_memory import AnswerMemory
from syncret.providers.contract import Ambient, OpenContext, OwnIdentity, Provider, Receiver
from syncret.providers.errors import SyncError
from syncret.providers.kit.auth.manifest_files import ManifestFiles
from syncret.providers.kit.limits import Limiter, LimiterStats
from syncret.providers.network import ConnectionBudget, Egress, Network
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # only exports of resources need the secret APIs
    from syncret.providers.kit.ambient.door import Door
    from syncret.providers.secret_apis import SecretApisContext

Substitute: TypeAlias = Callable[[ObjectRef, Provider[Any]], Provider[Any]]
"""The provider to use for a store in the place of the one it names; a simulation reaches nothing else."""


class SessionPool:
    """All sessions of a daemon. Leaving the block closes every client, under the deadline of the drain."""

    def __init__(
        self,
        registry: Registry,
        home: Home,
        settings: Settings,
        *,
        clock: Clock,
        observer: Observer | None = None,
        faults: Faults | None = None,
        substitute: Substitute | None = None,
        queue: WorkQueue | None = None,
    ) -> None:
        self.on_login_refused: Recheck = ignore_recheck
        """Requeues a store after the pause."""
        self.on_reachability: Recheck = ignore_recheck
        """Requeues a store that answers no longer, or again."""
        self._registry = registry
        self._home = home
        self._settings = settings
        self._substitute = substitute
        self.threads = WorkThreads(WorkLimits.of(settings))
        """The threads in which syncs do longer computations."""
        self._tasks, self._clients = TaskOwner(), TaskOwner()
        shares = descriptors()
        network = Network(
            egress=Egress(settings.egress.allow, settings.egress.deny),
            connections=ConnectionBudget(shares.calls, shares.connections),
            answers=AnswerMemory(settings.answer_memory),
        )
        self.answers = KeptAnswers(
            _no_request if queue is None else queue.has_request_before, network.answers
        )
        if queue is not None:
            queue.on_progress(self.answers.trim)
        self._around = CallEnvironment(
            settings=settings,
            observer=observer or NullObserver(),
            clock=clock,
            tasks=self._tasks,
            clients=self._clients,
            changing=ChangingCalls(),
            render=Templates(clock.now, TemplateLimits.of(settings)).request,
            compute=self.threads.compute,
            read_file=ManifestFiles(settings.manifest_files, os.environ),
            network=network,
            ambient=self._ambient,
            faults=faults,
            answers=self.answers,
            answered=lambda store: queue.answered(str(store)) if queue is not None else None,
            login_refused=lambda store, pause: self.on_login_refused(store, pause),  # noqa: PLW0108  # set later
            reachability_changed=lambda store, pause: self.on_reachability(store, pause),  # noqa: PLW0108  # as above
        )
        self._plans: dict[ObjectRef, tuple[str, StoreConfig | SyncError]] = {}
        self._memories: dict[ObjectRef, StoreState] = {}
        self._keep: dict[ObjectRef, dict[str, Any]] = {}
        self._channels: dict[tuple[ObjectRef, str], StoreClient] = {}
        self._every_channel: WeakSet[StoreClient] = WeakSet()
        self._readers: dict[ObjectRef, WeakSet[StoreClient | LoginBackoff]] = {}
        self._generators = GeneratorCalls(self._around)
        self._drained_by = inf
        self._background: TaskOwner | None = None

    def session(self, store: StoredObject, namespace: str, work: SyncWork | None = None) -> Session:
        """The session of this version of a store, for objects of a namespace. Only its use raises.

        `work` is the budget of the sync that uses it; without one it has a budget of its own.
        """
        plan = self._plan(store)
        work = work or self.threads.sync()
        if isinstance(plan, SyncError):
            return Session(plan, namespace, work)
        identity = SessionKey(plan.store, plan.uid, plan.generation, namespace if plan.by_namespace else "")
        key = identity.store, identity.namespace
        channel = self._channels.get(key)
        if channel is None or channel.identity != identity:
            if channel is not None:
                channel.close_when_unused()
            channel = self._channels[key] = self._channel(plan, identity)
        return Session(channel, namespace, work)

    def credentials(self, store: StoredObject) -> Iterator[ObjectRef]:
        """The Secrets, ConfigMaps and accounts that a store needs; a change of one requeues it."""
        plan = self._plan(store)
        if not isinstance(plan, SyncError):
            yield from credentials_of(plan)

    def context(
        self, generator: ObjectRef, origin: ObjectRef, namespace: str, work: SyncWork | None = None
    ) -> OpenContext:
        """The context of a generator that generates for a namespace, within the budget of a sync.

        `origin` may be a ClusterGenerator.
        """
        scope = Scope(cluster=False, namespace=namespace)
        login = self._generators.login(generator)

        def on_read(ref: ObjectRef) -> None:
            self._readers.setdefault(ref, WeakSet()).add(login)

        return OpenContext(
            store=generator,
            scope=scope,
            credentials=StoreCredentials(self._home, scope, on_read=on_read),
            now=self._around.clock.now,
            render=self._around.render,
            compute=(work or self.threads.sync()).run,
            read_file=self._around.read_file,
            network=self._around.network,
            ambient=self._ambient(origin),
            log_in=login,
            store_memory={},
        )

    def generator_calls(self, generator: ObjectRef, kind: str) -> CallPath:
        """The path of a generator's calls; `kind` is what a ClusterGenerator holds, otherwise its own."""
        return self._generators.of(generator, kind)

    def concerns(self, kind: GroupKind) -> bool:
        """Stores, generators, and what their credentials are in."""
        return role_of(kind) in ("store", "generator", "core")

    def notice(self, change: WatchEvent) -> None:
        """Take in a change of the home: close clients whose credentials changed or whose store is gone."""
        if change.object is None:
            return
        ref = change.object.ref
        self._generators.changed(ref)
        gone = change.type is WatchEventType.DELETED
        for reader in self._readers.get(ref, ()):
            reader.on_credential_change(change)
        if gone and ref in self._plans:
            del self._plans[ref]
            self._memories.pop(ref, None)
            for key in [key for key in self._channels if key[0] == ref]:
                self._channels.pop(key).close_when_unused()

    def is_in_doubt(self, store: ObjectRef) -> bool:
        """Whether a login at this store was refused, and none was accepted since."""
        return any(key[0] == store and channel.login.is_refused for key, channel in self._channels.items())

    def reachability(self, store: ObjectRef) -> Reachability:
        """Whether a store answers; for a ClusterSecretStore, whether it does so for all of its namespaces."""
        found = [channel.reachability for key, channel in self._channels.items() if key[0] == store]
        return min(found, key=_concern, default=Reachability("unknown"))

    @property
    def answer_memory(self) -> AnswerMemory:
        """The memory that answers of all stores take."""
        return self._around.network.answers

    def limits(self) -> Iterator[tuple[ObjectRef, LimiterStats]]:
        """The state of the token bucket of every store and generator."""
        for ref, memory in self._every_memory():
            yield ref, memory.limiter.stats()

    def in_flight(self) -> Iterator[tuple[ObjectRef, int]]:
        """How many calls of every store and generator wait for an answer."""
        for ref, memory in self._every_memory():
            yield ref, len(memory.in_flight)

    def waits_for(self, store: ObjectRef) -> str:
        """The server that a call of the store waits for; empty if none does, or it is not known."""
        memory = self._memories.get(store)
        return "" if memory is None else memory.server

    def _every_memory(self) -> Iterator[tuple[ObjectRef, StoreState]]:
        yield from self._memories.items()
        yield from self._generators.memories()

    async def leave(self, background: TaskOwner) -> None:
        """Let calls that change or create something end, for the drain timeout at most; no other is sent.

        Reads go on meanwhile. When the block is left they are cancelled at once, and clients, which may be
        slow to close, are closed in the background.
        """
        await self._around.changing.finish(self._settings.drain_timeout)
        self._background = background

    def drain(self) -> None:
        """Begin the drain: its timeout counts from now on, not from the end of the block."""
        now = asyncio.get_running_loop().time()
        self._drained_by = min(self._drained_by, now + self._settings.drain_timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for channel in self._every_channel:
            channel.close_when_unused()
        self._channels.clear()
        self.drain()
        left = self._drained_by - asyncio.get_running_loop().time()
        if self._background is None:
            await self._tasks.close(left)
            await self._clients.close(self._drained_by - asyncio.get_running_loop().time())
        else:
            await self._tasks.close(0)
            self._clients.hand_over(self._background)
        self.threads.close()

    def _plan(self, stored: StoredObject) -> StoreConfig | SyncError:
        known = self._plans.get(stored.ref)
        if known is not None and known[0] == stored.resource_version:
            return known[1]

        def provider(name: str) -> Provider[Any]:
            found = self._registry.provider(name)
            return found if self._substitute is None else self._substitute(stored.ref, found)

        plan: StoreConfig | SyncError
        try:
            plan = load_store_config(stored, provider, self._settings)
        except SyncError as error:
            plan = error
        else:
            if known is not None and known[1] == plan:
                plan = known[1]  # a status was written: the client that is open has the same one
            elif stored.ref in self._memories:
                self._memories[stored.ref].limiter.configure(plan.rate, plan.burst)
        self._plans[stored.ref] = stored.resource_version, plan
        return plan

    def _channel(self, plan: StoreConfig, identity: SessionKey) -> StoreClient:
        memory = self._memories.get(plan.store)
        if memory is None:
            keep = self._keep.setdefault(plan.store, {})
            memory = self._memories[plan.store] = StoreState(Limiter(plan.rate, plan.burst), keep)

        def on_read(ref: ObjectRef) -> None:
            self._readers.setdefault(ref, WeakSet()).add(channel)

        channel = StoreClient(
            plan, identity, home=self._home, memory=memory, around=self._around, on_read=on_read
        )
        self._every_channel.add(channel)
        return channel

    def secret_apis_context(self) -> "SecretApisContext":
        """The context of calls to secret APIs, which belong to no store."""
        from syncret.providers.secret_apis import SecretApisContext  # only exports of resources need them

        return SecretApisContext(
            now=self._around.clock.now,
            compute=self._around.compute,
            network=self._around.network,
            ambient=self._ambient,
            new_login=lambda: LoginBackoff(self._settings),
            timeout=self._settings.call_timeout,
        )

    def _ambient(self, user: ObjectRef) -> Ambient:
        return partial(self._grant, user)

    def _grant(self, user: ObjectRef, receivers: Iterable[Receiver]) -> OwnIdentity:
        return self._door.grant(user, receivers)

    @cached_property
    def _door(self) -> "Door":
        """The door to the daemon's own identity, for stores that name no credentials."""
        from syncret.providers.kit.ambient.door import Door
        from syncret.providers.kit.ambient.rules import Rules

        rules = Rules.of(self._settings, os.environ)
        return Door(rules, self._home.issue_token, self._around.observer.sends_own_identity)

    def __repr__(self) -> str:
        open_ = sum(channel.open for channel in self._channels.values())
        return f"<Sessions stores={len(self._plans)} channels={len(self._channels)} open={open_}>"


def _concern(found: Reachability) -> int:
    """A sort key, the worst first: no answer, an error that may mean that, an answer, nothing known."""
    if found.answers == "no":
        return 0
    if found.error is not None:
        return 1
    return 2 if found.answers == "yes" else 3


def _no_request(store: str, moment: float) -> bool:
    """Without a queue no object waits."""
    del store, moment
    return False
