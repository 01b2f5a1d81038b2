"""Deletion and what follows from it: finalizers, contents of namespaces, objects whose owners are gone.

A cluster has controllers for that, which run some moments later. Here it is part of the call that deletes the
owner, in a fixed order, with the owner last: if the journal fails in the middle, or the process crashes, the
owner is still there, and the next attempt finds all that is left to do. So, unlike in a cluster, watchers see
the deletion of an object before that of its owner.
"""

from collections import deque
from collections.abc import Callable, Sequence

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory import kinds, metadata
from syncret.daemon.homes.memory.object_store import ObjectStore, owner_references


class GarbageCollector:
    """Removes objects from a store as an API server and the controllers beside it do."""

    def __init__(self, store: ObjectStore, timestamp: Callable[[], str]) -> None:
        self._store = store
        self._timestamp = timestamp
        self._ending: set[str] = set()  # namespaces whose contents this very call is retiring

    def delete(self, ref: ObjectRef) -> None:
        """Delete an object: mark it while finalizers hold it, or remove it with its dependents."""
        document = self._store.document(ref)
        if ref.group_kind == kinds.NAMESPACE:
            self._mark(ref, document)
            self._empty(ref.name)
            self._finish_namespace(ref.name)
        elif self._held(ref, document):
            self._mark(ref, document)
        else:
            self._remove(ref)

    def finalize(self, ref: ObjectRef, document: Document) -> StoredObject | None:
        """Remove an object if this change dropped its last finalizer; None if it is still held."""
        if not metadata.is_being_deleted(document) or self._held(ref, document):
            return None
        return self._remove(ref, document)

    def collect_if_orphaned(self, ref: ObjectRef) -> None:
        """Collect an object that was just written and belongs to owners that are gone already."""
        if not self._store.owners.has_deleted_owner(ref):
            return
        if self._store.owners.has_live_owner(ref, ()):
            self._drop_dead_owners(ref)
        else:
            self.delete(ref)

    def _held(self, ref: ObjectRef, document: Document) -> bool:
        """Whether finalizers, or contents of a namespace, keep the object from going."""
        if document["metadata"].get("finalizers"):
            return True
        return ref.group_kind == kinds.NAMESPACE and not self._store.index.is_empty(ref.name)

    def _empty(self, namespace: str) -> None:
        """Retire what is in a namespace; once, even where an object owns the namespace that it is in."""
        if namespace in self._ending:
            return
        self._ending.add(namespace)
        try:
            for stored in self._store.index.in_namespace(namespace):
                if stored.ref in self._store.index:
                    self.delete(stored.ref)
        finally:
            self._ending.remove(namespace)

    def _mark(self, ref: ObjectRef, document: Document) -> None:
        if metadata.is_being_deleted(document):
            return
        metadata.marked_for_deletion(document, timestamp=self._timestamp())
        if ref.group_kind == kinds.NAMESPACE:
            kinds.complete_namespace(document, "Terminating")
        self._store.replace(self._store.found(ref), document)

    def _remove(self, ref: ObjectRef, last: Document | None = None) -> StoredObject:
        """Remove an object, after all that it owned; `last` is the change that released it."""
        index, stood = self._store.index, self._store.found(ref)
        doomed, held, shared = self._follow(ref)
        for other in held:
            self.delete(other)
        for other in reversed(doomed[1:]):
            if other in index:  # it may have gone with a namespace among `held`
                self._store.remove(other)
        stored = self._store.remove(ref, last) if ref in index else stood
        for other in shared:
            if other in index:
                self._drop_dead_owners(other)
        for namespace in dict.fromkeys(other.namespace for other in doomed):
            self._finish_namespace(namespace)
        return stored

    def _follow(self, ref: ObjectRef) -> tuple[Sequence[ObjectRef], ...]:
        """What to remove with an object (itself first), what finalizers hold, what has other owners."""
        owners = self._store.owners
        doomed = {ref: self._store.found(ref).uid}
        held: dict[ObjectRef, None] = {}
        shared: dict[ObjectRef, None] = {}
        uids = set(doomed.values())
        pending = deque(uids)
        while pending:
            for other in owners.dependents(pending.popleft()):
                if other in doomed or other in held:
                    continue
                shared.pop(other, None)
                if owners.has_live_owner(other, uids):
                    shared[other] = None
                elif other.group_kind == kinds.NAMESPACE or self._held(other, self._store.document(other)):
                    held[other] = None
                else:
                    doomed[other] = uid = self._store.found(other).uid
                    uids.add(uid)
                    pending.append(uid)
        return tuple(doomed), tuple(held), tuple(shared)

    def _drop_dead_owners(self, ref: ObjectRef) -> None:
        """Strike out an object's owners that are gone."""
        document = self._store.document(ref)
        owners = [one for one in owner_references(document) if not self._store.owners.is_deleted(one["uid"])]
        document["metadata"]["ownerReferences"] = owners
        self._store.replace(self._store.found(ref), document)

    def _finish_namespace(self, namespace: str) -> None:
        """Remove a namespace that waited only for its contents."""
        if namespace in self._store.terminating:
            ref = kinds.namespace_ref(namespace)
            if not self._held(ref, self._store.document(ref)):
                self._remove(ref)
