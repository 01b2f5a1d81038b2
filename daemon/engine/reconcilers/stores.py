"""Finding the store that a resource names, and whether that resource may use it now.

Which stores a PushSecret pushes to: named, or selected by labels; only those that are this daemon's.
"""

from collections.abc import Iterable

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import NAMESPACE, store_ref
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.daemon.core import conditions, selectors
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.push_entries import Store
from syncret.daemon.engine.reconcilers.context import ReconcilerContext, StoreSummary
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable


class PendingDependency(SyncError):
    """What the object depends on is being made or validated now; a change of that requeues the object."""


def not_found_message(kind: str, name: str) -> str:
    """The message about a store that does not exist, in the operator's words."""
    return f'could not get {kind} "{name}", {kind}.{GROUP} "{name}" not found'


def require_watched(context: ReconcilerContext, kind: GroupKind) -> None:
    """Raise Unavailable where objects of the kind cannot be watched now: then absence means nothing."""
    if context.inventory.is_unknown(kind):
        raise Unavailable(
            f"objects of kind {kind.kind} cannot be watched now",
            hint=f"is {kind.kind} ({kind.group}) installed, and may syncret list and watch it?",
        )


async def find(context: ReconcilerContext, writes: Writes, ref: ObjectRef) -> StoredObject | None:
    """An object of a kind that is watched; one that the inventory lacks is read live before it is absent.

    Raises Unavailable where the kind cannot be watched now.
    """
    stored = context.inventory.get(ref)
    if stored is not None:
        return stored
    require_watched(context, ref.group_kind)
    return await writes.get(ref)


async def usable_store(
    context: ReconcilerContext, writes: Writes, name: StoreName, namespace: str, *, ready: bool
) -> StoredObject:
    """The store, if a resource of that namespace may use it; with `ready` only if it is known to work.

    Raises Malformed, Denied, Unavailable or PendingDependency, with the operator's words.
    """
    stored = await find(context, writes, store_ref(*name, namespace))
    if stored is None:
        hint = f"create it, or mend the name in secretStoreRef (namespace {namespace})"
        raise Malformed(not_found_message(name.kind, name.name), hint=hint)
    store = context.store_summaries.of(stored)
    if not context.handles(store.spec.controller):
        raise Denied("can not reference unmanaged store", hint="its spec.controller names another class")
    if not stored.ref.namespace:
        labels = context.inventory.labels(NAMESPACE.ref("", namespace))
        if not selectors.admits(store.spec.conditions, namespace, labels):
            raise Denied(
                f'using cluster store "{name.name}" is not allowed from namespace "{namespace}": '
                "denied by spec.condition",
                hint="widen spec.conditions of the store, or use a SecretStore of the namespace",
            )
    if ready:
        _require_ready(store, name)
    return stored


def _require_ready(store: StoreSummary, name: StoreName) -> None:
    verdict = conditions.find(store.status.conditions)
    if verdict is None and not store.metadata.deletion_timestamp:
        raise PendingDependency(f'{name.kind} "{name.name}" has not been validated yet')
    if verdict is None or verdict.status != "True":
        raise Malformed(
            f'{name.kind} "{name.name}" is not ready',
            hint=f"syncret explain {name.kind}/{name.name} says why",
        )


def belongs_to_another_controller(
    context: ReconcilerContext, names: Iterable[StoreName], namespace: str
) -> bool:
    """Whether any of these stores belongs to another controller: the resource is then left alone entirely."""
    for name in names:
        stored = context.inventory.get(store_ref(*name, namespace))
        if stored is not None and not context.handles(context.store_summaries.of(stored).spec.controller):
            return True
    return False


async def select_stores(
    context: ReconcilerContext, writes: Writes, resource: PushSecret
) -> dict[Store, StoredObject]:
    """The stores, by what decides over entries. Raises Malformed for one that does not exist."""
    found: dict[ObjectRef, StoredObject] = {}
    for ref in resource.spec.secret_store_refs:
        for stored in await _of(context, writes, ref, resource.metadata.namespace):
            found[stored.ref] = stored
    chosen: dict[Store, StoredObject] = {}
    for stored in found.values():
        store = context.store_summaries.of(stored)
        if not store.metadata.deletion_timestamp and context.handles(store.spec.controller):
            chosen[Store(stored.ref.kind, stored.ref.name, frozenset(store.metadata.labels.items()))] = stored
    return chosen


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
        raise Malformed(not_found_message(kind, ref.name), hint="create it, or mend the name")
    return [stored]
