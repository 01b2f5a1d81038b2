"""Finds what the daemon would do at its start in a cluster, without writing anything.

The engine itself decides, on a home that drops all writes, and asks no secret manager.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct, structs

from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.config.resources.kinds import CLUSTER_GENERATOR, KINDS, SECRET_STORE, Kinds, is_shown, role_of
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.cli.migration.definitions import WEBHOOKS, Findings, findings_of
from syncret.daemon.cli.migration.identities import Identities, identities_of
from syncret.daemon.cli.migration.operator import DEPLOYMENT, LABELLED, Part, parts_of
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.core.plan.held_write import HeldWrite
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.held_writes import HeldRecord
from syncret.daemon.homes.contract import Home, HomeError, StorageUnavailable, StoredObject
from syncret.daemon.homes.opening import open_home
from syncret.providers.kit.ambient.rules import Rules
from syncret.providers.registry import Registry

DEFINITION = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
CONFIGURATION = GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")


class TakeoverEffects(Struct, frozen=True, kw_only=True):
    """What the daemon would do with the objects of a cluster."""

    objects: int
    """How many objects it would manage."""
    held: Mapping[ObjectRef, Sequence[HeldWrite]]
    errors: Mapping[ObjectRef, LastError]
    identities: Identities
    unreachable: Mapping[ObjectRef, str]
    """Stores and generators of vendors that syncret cannot reach."""
    unseen: Sequence[str]
    """What could not be read, and why."""


@asynccontextmanager
async def read_only_cluster(
    settings: Settings, registry: Registry, *, everywhere: bool = False
) -> AsyncGenerator[Home, None]:
    """Open the cluster for reading only; `everywhere`: also outside of the namespace of the settings.

    Raises HomeUnusable, StorageUnavailable.
    """
    reading = structs.replace(settings, kubernetes=True, observe=True)
    if everywhere:
        reading = structs.replace(reading, namespace="")
    async with open_home(reading, registry, now=Clock().now, on_problems=lambda _: None) as home:
        await home.list(SECRET_STORE.group_kind, namespace=settings.namespace or None)  # does it answer?
        yield home


async def operator_in(home: Home, namespace: str) -> tuple[Sequence[Part], Sequence[str]]:
    """ESO's Deployments, and why they could not be read."""
    try:
        for selector in (LABELLED, None):
            found = await home.list(DEPLOYMENT, namespace=namespace or None, selector=selector)
            parts = list(parts_of([each.document for each in found]))
            if parts:
                return parts, ()
    except HomeError as error:
        return (), (f"Deployments: {error}",)
    return (), ()


async def definitions_in(home: Home, registry: Registry) -> tuple[Findings, Sequence[str]]:
    """What CRDs and configurations of webhooks require, and why they could not be read.

    Raises StorageUnavailable if there are no CRDs: then it is probably the wrong cluster.
    """
    kinds = Kinds(registry)
    named = [kind for name in kinds.names() if (kind := kinds.find(name)) is not None and kind.group]
    refs = [ObjectRef(*DEFINITION, "", f"{kind.plural}.{kind.group}") for kind in named]
    try:
        definitions = await _found(home, refs)
        hooks = await _found(home, [ObjectRef(*CONFIGURATION, "", name) for name in WEBHOOKS])
    except HomeError as error:
        return Findings(), (str(error),)
    if not definitions:
        hint = "install them (`syncret export crds`), or choose the cluster with --context"
        raise StorageUnavailable("the cluster has none of the CRDs", hint=hint)
    return findings_of(definitions, hooks), ()


async def _found(home: Home, refs: Sequence[ObjectRef]) -> list[Document]:
    every = [await home.get(ref) for ref in refs]
    return [each.document for each in every if each is not None]


async def effects_of_takeover(
    home: Home, settings: Settings, registry: Registry, environment: Mapping[str, str]
) -> TakeoverEffects:
    """The effects of starting a daemon with these settings in ESO's environment."""
    held = HeldRecord(lambda: True, asks_stores=False)
    settings = structs.replace(settings, kubernetes=True, observe=True)
    hooks = EngineOverrides(held=held)
    async with run_engine(home, registry=registry, settings=settings, clock=Clock(), hooks=hooks) as running:
        await running.engine.wait_idle()
        users = [
            stored
            for kind in home.kinds()
            for stored in running.inventory.list(kind)
            if _is_used(stored, running)
        ]
        objects = [
            stored.ref
            for kind in KINDS
            if is_shown(kind.group_kind)
            for stored in running.inventory.list(kind.group_kind)
        ]
        errors = {ref: running.engine.unreported(ref) for ref in objects}
        return TakeoverEffects(
            objects=len(objects),
            held=dict(held.all()),
            errors={ref: error for ref, error in errors.items() if error is not None},
            identities=identities_of(users, registry, Rules.of(settings, environment)),
            unreachable=dict(
                _unreachable(each, registry) for each in users if _unreachable(each, registry)[1]
            ),
            unseen=[problem async for problem in _unseen(home, running)],
        )


def _is_used(stored: StoredObject, running: RunningEngine) -> bool:
    """Whether it is a store or generator of our class."""
    if role_of(stored.ref.group_kind) not in {"store", "generator"}:
        return False
    controller: Json = member(stored.document, "spec").get("controller")
    return running.context.handles(controller if isinstance(controller, str) else None)


def _unreachable(stored: StoredObject, registry: Registry) -> tuple[ObjectRef, str]:
    """The vendor of a store or generator of which syncret knows only the spec; empty if it can be reached."""
    spec = member(stored.document, "spec")
    if role_of(stored.ref.group_kind) == "store":
        names = [
            name
            for name in member(spec, "provider")
            if name not in registry.store_names() or registry.provider(name).open is None
        ]
        return stored.ref, ", ".join(names)
    kind = str(spec.get("kind")) if stored.ref.kind == CLUSTER_GENERATOR.kind else stored.ref.kind
    is_reached = kind in registry.generator_kinds() and registry.generator_type(kind).generate is not None
    return stored.ref, "" if is_reached else kind


async def _unseen(home: Home, running: RunningEngine) -> AsyncIterator[str]:
    """The kinds that the server has but that may not be read."""
    for kind in sorted(home.kinds()):
        if running.inventory.is_unknown(kind):
            try:
                await home.list(kind)
            except StorageUnavailable as error:
                yield f"{kind.kind}: {error}"
