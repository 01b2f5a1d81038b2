"""Builds a running engine: the inventory, the sessions, the reconcilers, on one home."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_PUSH_SECRET,
    DELIVERY,
    GENERATOR_STATE,
    KINDS,
    OUR_GROUPS,
    PUSH_SECRET,
    role_of,
)
from syncret.config.resources.switches import switched_off
from syncret.config.settings import Settings
from syncret.daemon.core.plan.actions import Action, Options
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine
from syncret.daemon.engine.held_writes import HeldRecord
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.observer import Faults, NullObserver, Observer
from syncret.daemon.engine.queue.from_settings import work_queue
from syncret.daemon.engine.reconciler import Reconciler
from syncret.daemon.engine.reconcilers.context import (
    EventRecorder,
    EventRecorderGroup,
    HomeEventRecorder,
    NullEventRecorder,
    ReconcilerContext,
    ignore_action,
)
from syncret.daemon.engine.reconcilers.external_secret import ExternalSecretReconciler
from syncret.daemon.engine.reconcilers.on_first_use import OnFirstUse
from syncret.daemon.engine.reconcilers.secret_store import SecretStoreReconciler
from syncret.daemon.engine.sessions.pool import SessionPool, Substitute
from syncret.daemon.engine.templates import TemplateLimits, Templates
from syncret.daemon.engine.waking import AddListener
from syncret.daemon.homes.contract import Home
from syncret.daemon.trusted_ca import trusted_ca
from syncret.providers.contract import Generator
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # imported late: few daemons have exports or a cache
    from syncret.daemon.cache.cache import OfflineCache
    from syncret.daemon.engine.exports.opening import Exports
    from syncret.providers.secret_apis import SecretApis


class RunningEngine(Struct, frozen=True, kw_only=True):
    """A running engine, its inventory and the context of its reconcilers."""

    engine: Engine
    inventory: Inventory
    context: ReconcilerContext


class EngineOverrides(Struct, frozen=True, kw_only=True):
    """The caller's hooks: an observer, events, applied actions, fault injection, other providers."""

    observer: Observer | None = None
    events: EventRecorder = field(default_factory=NullEventRecorder)
    applied: Callable[[ObjectRef, Action], object] = ignore_action
    """Called for each write of a plan that changed something, with the object that was run."""
    held: HeldRecord | None = None
    """Whether writes are held back, and what they would be."""
    faults: Faults | None = None
    substitute: Substitute | None = None
    secret_apis: "Callable[[str], SecretApis | None] | None" = None
    """Returns the secret APIs of an API group, in place of the built-in ones."""
    generator: Callable[[Generator[Any]], Generator[Any]] | None = None
    """Returns the generator to use in place of the named one."""
    deliveries: Callable[[ReconcilerContext], Reconciler] | None = None
    """Makes the reconciler of Deliveries once there is one; None: this is no host."""
    cache: "OfflineCache | None" = None


@asynccontextmanager
async def run_engine(
    home: Home,
    *,
    registry: Registry,
    settings: Settings,
    clock: Clock,
    hooks: EngineOverrides | None = None,
) -> AsyncGenerator[RunningEngine, None]:
    """Run the engine with all reconcilers on one home until the block is left; then drain it."""
    hooks = hooks or EngineOverrides()
    inventory = Inventory()
    queue = work_queue(clock, settings)

    def generator(kind: str) -> Generator[Any]:
        found = registry.generator_type(kind)
        return found if hooks.generator is None else hooks.generator(found)

    def reconciler_of(kind: GroupKind) -> Reconciler | None:
        return exports.of(kind)  # which needs the engine

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(trusted_ca(settings.trusted_ca_file))
        sessions = await stack.enter_async_context(
            SessionPool(
                registry,
                home,
                settings,
                clock=clock,
                observer=hooks.observer,
                faults=hooks.faults,
                substitute=hooks.substitute,
                queue=queue,
            )
        )
        context = ReconcilerContext(
            inventory=inventory,
            home=home,
            sessions=sessions,
            generator=generator,
            clock=clock,
            templates=Templates(clock.now, TemplateLimits.of(settings), settings.template_delimiters.pair),
            events=EventRecorderGroup(hooks.events, HomeEventRecorder(home, inventory)),
            applied=hooks.applied,
            options=Options(
                controller_class=settings.controller_class,
                allow_generic_targets=settings.allow_generic_targets,
                require_ready_stores=settings.require_ready_stores,
                cluster_stores=settings.process.cluster_store,
                generator_states=settings.generator_state,
                finalizer_always=not settings.kubernetes or settings.external_secret_finalizer == "always",
                store_interval=settings.store_interval,
                spread=settings.spread,
                generator_grace=settings.generator_gc_grace_period,
            ),
            wake=lambda ref: engine.refresh(ref, asked=False),
            refresh=lambda ref: engine.refresh(ref),  # noqa: PLW0108  # as above
            is_live=lambda ref: engine.is_live(ref),  # noqa: PLW0108  # as above
            cache=hooks.cache,
        )
        engine = Engine(
            home,
            (
                *reconcilers(context, without=switched_off(settings.process)),
                *_deliveries(context, hooks),
            ),
            inventory=inventory,
            queue=queue,
            settings=settings,
            observer=hooks.observer,
            listeners=(sessions, context.owned_secrets, context.push_index),
            held=hooks.held,
            others=reconciler_of,
        )
        exports = _ExportsOnDemand(
            lambda: open_exports(context, settings, hooks, registry, engine.add_listener)
        )
        stack.push_async_callback(exports.close)
        sessions.on_login_refused = engine.recheck
        sessions.on_reachability = engine.reachability_changed
        async with asyncio.TaskGroup() as group:
            group.create_task(engine.run(), name="engine")
            try:
                yield RunningEngine(engine=engine, inventory=inventory, context=context)
            finally:
                engine.stop()
                sessions.drain()


class _ExportsOnDemand:
    """The exports of resources, once there is a resource: most daemons have none."""

    def __init__(self, open_: "Callable[[], Exports]") -> None:
        self._open = open_
        self._exports: Exports | None = None

    def of(self, kind: GroupKind) -> Reconciler | None:
        """The reconciler of a kind that others define."""
        if not kind.group or kind.group in OUR_GROUPS or role_of(kind) is not None:
            return None
        self._exports = self._exports or self._open()
        return self._exports.reconciler(kind)

    async def close(self) -> None:
        """As `Exports` says."""
        if self._exports is not None:
            await self._exports.close()


def open_exports(
    context: ReconcilerContext,
    settings: Settings,
    hooks: EngineOverrides,
    registry: Registry,
    add_listener: AddListener,
) -> "Exports":
    """What the exports of all resources share."""
    from syncret.daemon.engine.exports.opening import Exports

    return Exports(
        context,
        settings,
        find=hooks.secret_apis or registry.secret_apis,
        add_listener=add_listener,
        observer=hooks.observer or NullObserver(),
    )


def reconcilers(context: ReconcilerContext, *, without: Collection[str] = ()) -> tuple[Reconciler, ...]:
    """One reconciler for each kind that has one, and is not switched off."""
    every: tuple[Reconciler, ...] = (
        *(SecretStoreReconciler(context, kind.kind) for kind in KINDS if kind.role == "store"),
        ExternalSecretReconciler(context),
        OnFirstUse(PUSH_SECRET.group_kind, lambda: _push_secrets(context)),
        OnFirstUse(GENERATOR_STATE.group_kind, lambda: _generator_states(context)),
        OnFirstUse(CLUSTER_EXTERNAL_SECRET.group_kind, lambda: _fan_out(context, push=False)),
        OnFirstUse(CLUSTER_PUSH_SECRET.group_kind, lambda: _fan_out(context, push=True)),
    )
    return tuple(each for each in every if each.group_kind.kind not in without)


def _push_secrets(context: ReconcilerContext) -> Reconciler:
    from syncret.daemon.engine.reconcilers.push_secret import PushSecretReconciler

    return PushSecretReconciler(context)


def _generator_states(context: ReconcilerContext) -> Reconciler:
    from syncret.daemon.engine.reconcilers.generator_state import GeneratorStateReconciler

    return GeneratorStateReconciler(context)


def _fan_out(context: ReconcilerContext, *, push: bool) -> Reconciler:
    from syncret.daemon.core.plan import fan_out
    from syncret.daemon.engine.reconcilers.fan_out import FanOutReconciler

    return FanOutReconciler(context, fan_out.PUSH if push else fan_out.EXTERNAL)


def _deliveries(context: ReconcilerContext, hooks: EngineOverrides) -> tuple[Reconciler, ...]:
    make = hooks.deliveries
    return () if make is None else (OnFirstUse(DELIVERY.group_kind, lambda: make(context)),)
