"""Finding the store that a resource names, and whether that resource may use it now.

Which stores a PushSecret pushes to: named, or selected by labels; only those that are this daemon's.
"""

from collections.abc import Iterable

from syncret.config.meta import ObjectRef
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import NAMESPACE, store_ref
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.daemon.core import conditions, selectors
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.push_entries import Store
from syncret.daemon.engine.reconcilers.context import ReconcilerContext, StoreSummary
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import Denied, Malformed, SyncError


class PendingDependency(SyncError):
    """What is asked for is being made or judged right now; once it is, whoever waits is woken."""


def not_found_message(kind: str, name: str) -> str:
    """What is told of a store that does not exist, in the operator's words."""
    return f'could not get {kind} "{name}", {kind}.{GROUP} "{name}" not found'


def usable_store(context: ReconcilerContext, name: StoreName, namespace: str, *, ready: bool) -> StoredObject:
    """The store, if a resource of that namespace may use it; with `ready` only if it is known to work.

    Raises Malformed, Denied or NotReadyYet with the words of the External Secrets operator.
    """
    stored = context.inventory.get(store_ref(*name, namespace))
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


def select_stores(context: ReconcilerContext, resource: PushSecret) -> dict[Store, StoredObject]:
    """The stores, by what decides over entries. Raises Malformed for one that does not exist."""
    found: dict[ObjectRef, StoredObject] = {}
    for ref in resource.spec.secret_store_refs:
        for stored in _of(context, ref, resource.metadata.namespace):
            found[stored.ref] = stored
    chosen: dict[Store, StoredObject] = {}
    for stored in found.values():
        store = context.store_summaries.of(stored)
        if not store.metadata.deletion_timestamp and context.handles(store.spec.controller):
            chosen[Store(stored.ref.kind, stored.ref.name, frozenset(store.metadata.labels.items()))] = stored
    return chosen


def _of(context: ReconcilerContext, ref: PushStoreRef, namespace: str) -> list[StoredObject]:
    kind = ref.kind
    if ref.label_selector is not None:
        every = store_ref(kind, "", namespace)
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
    stored = context.inventory.get(store_ref(kind, ref.name, namespace))
    if stored is None:
        raise Malformed(not_found_message(kind, ref.name), hint="create it, or mend the name")
    return [stored]
