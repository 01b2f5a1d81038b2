"""Finds the stores that a resource names or selects, and checks whether it may use them."""

from typing import Final

from syncret.config.manifests.references import found_elsewhere, other_store
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import NAMESPACE, store_ref
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.daemon.core import selectors
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan.secret_store import (
    StoreLookup,
    check_usable,
    store_invalid,
    store_not_found,
)
from syncret.daemon.core.push_entries import Store
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import HomeError, StoredObject
from syncret.providers.errors import Malformed, SyncError, Unavailable

_NAMESPACES_LOOKED_AT: Final = 1000
"""In how many namespaces a store is looked for that is missing in its own."""


def require_watched(context: ReconcilerContext, kind: GroupKind) -> None:
    """Raise Unavailable if objects of the kind cannot be watched now: their absence is no proof then."""
    if context.inventory.is_unknown(kind):
        raise Unavailable(
            f"objects of kind {kind.kind} cannot be watched now",
            hint=f"is {kind.kind} ({kind.group}) installed, and may syncret list and watch it?",
        )


async def find(context: ReconcilerContext, writes: Writes, ref: ObjectRef) -> StoredObject | None:
    """An object of a watched kind; one that the inventory lacks is read from the home. None: it is absent.

    Raises Unavailable if the kind cannot be watched now, or the object cannot be read.
    """
    stored = context.inventory.get(ref)
    if stored is not None:
        return stored
    require_watched(context, ref.group_kind)
    try:
        return await writes.get(ref)
    except HomeError as error:
        raise Unavailable(f'{ref.kind} "{ref.name}" cannot be read now: {error}') from error


async def usable_store(
    context: ReconcilerContext, writes: Writes, name: StoreName, namespace: str, *, ready: bool
) -> StoredObject:
    """The store, if a resource of that namespace may use it; with `ready` only if it is known to work.

    Raises Malformed, Denied, Unavailable or PendingDependency, with the operator's words.
    """
    stored = await find(context, writes, store_ref(*name, namespace))
    if stored is None:
        raise _missing(context, name, namespace)
    check_usable(
        name,
        context.store_summaries.of(stored),
        namespace=namespace,
        labels=context.inventory.labels(NAMESPACE.ref("", namespace)),
        options=context.options,
        ready=ready,
    )
    return stored


async def look_up_store(
    context: ReconcilerContext, writes: Writes, name: StoreName, namespace: str
) -> StoreLookup:
    """The store that a resource names; none without a name."""
    if not name.name:
        return None
    try:
        stored = await find(context, writes, store_ref(*name, namespace))
    except SyncError as error:
        return error
    if stored is None:
        return _missing(context, name, namespace)
    return context.store_summaries.of(stored)


def _missing(context: ReconcilerContext, name: StoreName, namespace: str) -> Malformed:
    """The error for a store that does not exist: its manifest is refused, or a similar one may be meant."""
    wanted = store_ref(*name, namespace)
    place = context.home.manifest_of(wanted)
    if place is not None and not place.is_valid:
        return store_invalid(name, str(place))
    inventory = context.inventory
    other = inventory.get(other_store(wanted, namespace))
    namesakes = [] if other is None else [other.ref]
    for each in inventory.namespaces_with(wanted.group_kind, name.name, _NAMESPACES_LOOKED_AT):
        ref = wanted._replace(namespace=each)
        if context.home.manifest_of(ref) is not None:  # in a cluster, a namespace shows nothing of others
            namesakes.append(ref)
    return store_not_found(name, namespace, found_elsewhere(wanted, namesakes))


async def select_stores(
    context: ReconcilerContext, writes: Writes, resource: PushSecret
) -> tuple[Store, ...]:
    """The stores that are not another controller's. Raises Malformed for one that does not exist."""
    found: dict[ObjectRef, StoredObject] = {}
    for ref in resource.spec.secret_store_refs:
        for stored in await _of(context, writes, ref, resource.metadata.namespace):
            found[stored.ref] = stored
    summaries = {ref: context.store_summaries.of(stored) for ref, stored in found.items()}
    return tuple(
        Store(ref.kind, ref.name, frozenset(store.metadata.labels.items()))
        for ref, store in summaries.items()
        if not store.metadata.deletion_timestamp and context.handles(store.spec.controller)
    )


async def _of(
    context: ReconcilerContext, writes: Writes, ref: PushStoreRef, namespace: str
) -> list[StoredObject]:
    kind = ref.kind
    if ref.label_selector is not None:
        every = store_ref(kind, "", namespace)
        require_watched(context, every.group_kind)
        listed = context.inventory.list(every.group_kind, every.namespace or None)
        return [
            s
            for s in listed
            if selectors.matches(ref.label_selector, context.store_summaries.of(s).metadata.labels)
        ]
    if not ref.name:
        raise Malformed(
            "refStore Name must be provided", hint="name the store in secretStoreRefs, or select it by labels"
        )
    stored = await find(context, writes, store_ref(kind, ref.name, namespace))
    if stored is None:
        raise _missing(context, StoreName(kind, ref.name), namespace)
    return [stored]
