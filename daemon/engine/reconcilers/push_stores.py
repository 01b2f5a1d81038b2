"""Which stores a PushSecret pushes to: named, or selected by labels; only those that are this daemon's."""

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.daemon.backends.contract import Stored
from syncret.daemon.core import selectors
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.push import Store
from syncret.daemon.engine.reconcilers.stores import CLUSTER, GROUP, absent, store_ref
from syncret.daemon.engine.reconcilers.world import World
from syncret.providers.errors import Malformed


def stores_of(world: World, resource: PushSecret) -> dict[Store, Stored]:
    """The stores, by what decides over entries. Raises Malformed for one that does not exist."""
    found: dict[ObjectRef, Stored] = {}
    for ref in resource.spec.secret_store_refs:
        for stored in _of(world, ref, resource.metadata.namespace):
            found[stored.ref] = stored
    chosen: dict[Store, Stored] = {}
    for stored in found.values():
        store = world.heads.of(stored)
        if not store.metadata.deletion_timestamp and world.handles(store.spec.controller):
            chosen[Store(stored.ref.kind, stored.ref.name, frozenset(store.metadata.labels.items()))] = stored
    return chosen


def _of(world: World, ref: PushStoreRef, namespace: str) -> list[Stored]:
    kind = ref.kind
    if ref.label_selector is not None:
        listed = world.inventory.list(GroupKind(GROUP, kind), None if kind == CLUSTER else namespace)
        return [s for s in listed if selectors.matches(ref.label_selector, world.heads.of(s).metadata.labels)]
    if not ref.name:
        raise Malformed(
            "refStore Name must be provided", hint="name the store in secretStoreRefs, or select it by labels"
        )
    stored = world.inventory.get(store_ref(StoreName(kind, ref.name), namespace))
    if stored is None:
        raise Malformed(absent(kind, ref.name), hint="create it, or mend the name")
    return [stored]
