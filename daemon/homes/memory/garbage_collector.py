"""Deletion and what follows from it: finalizers, contents of namespaces, objects whose owners are gone.

A cluster has controllers for that, which run some moments later. Here it is part of the call that caused it,
in a fixed order, and the cause goes last: a journal that fails in the middle, or a crash, leaves the cause
standing, and the next try finds all that is still to be done. So, other than in a cluster, watchers see an
object go before its owner.
"""

from collections import deque
from collections.abc import Callable, Sequence

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import Stored
from syncret.daemon.homes.memory import kinds, metadata
from syncret.daemon.homes.memory.object_store import Ledger, owner_references


class Collector:
    """Removes objects from a ledger as an API server and the controllers beside it do."""

    def __init__(self, ledger: Ledger, timestamp: Callable[[], str]) -> None:
        self._ledger = ledger
        self._timestamp = timestamp
        self._ending: set[str] = set()  # namespaces whose contents this very call is retiring

    def retire(self, ref: ObjectRef) -> None:
        """Delete an object: mark it while something holds it, or remove it with what hangs on it."""
        document = self._ledger.document(ref)
        if ref.group_kind == kinds.NAMESPACE:
            self._mark(ref, document)
            self._empty(ref.name)
            self._end(ref.name)
        elif self._held(ref, document):
            self._mark(ref, document)
        else:
            self._remove(ref)

    def release(self, ref: ObjectRef, document: Document) -> Stored | None:
        """Remove an object that waited only for this, its last, change; None where something holds it."""
        if not metadata.is_being_deleted(document) or self._held(ref, document):
            return None
        return self._remove(ref, document)

    def adopt(self, ref: ObjectRef) -> None:
        """Collect an object that was just written and belongs to owners that are gone already."""
        if not self._ledger.owners.bereft(ref):
            return
        if self._ledger.owners.survive(ref, ()):
            self._disown(ref)
        else:
            self.retire(ref)

    def _held(self, ref: ObjectRef, document: Document) -> bool:
        """Whether finalizers, or contents of a namespace, keep the object from going."""
        if document["metadata"].get("finalizers"):
            return True
        return ref.group_kind == kinds.NAMESPACE and not self._ledger.shelves.is_empty(ref.name)

    def _empty(self, namespace: str) -> None:
        """Retire what is in a namespace; once, even where an object owns the namespace that it is in."""
        if namespace in self._ending:
            return
        self._ending.add(namespace)
        try:
            for stored in self._ledger.shelves.in_namespace(namespace):
                if stored.ref in self._ledger.shelves:
                    self.retire(stored.ref)
        finally:
            self._ending.remove(namespace)

    def _mark(self, ref: ObjectRef, document: Document) -> None:
        if metadata.is_being_deleted(document):
            return
        metadata.marked_for_deletion(document, timestamp=self._timestamp())
        if ref.group_kind == kinds.NAMESPACE:
            kinds.complete_namespace(document, "Terminating")
        self._ledger.save(ref, document)

    def _remove(self, ref: ObjectRef, last: Document | None = None) -> Stored:
        """Take an object away, after all that it owned; `last` is the change that let it go."""
        shelves, stood = self._ledger.shelves, self._ledger.found(ref)
        doomed, held, shared = self._follow(ref)
        for other in held:
            self.retire(other)
        for other in reversed(doomed[1:]):
            if other in shelves:  # it may have gone with a namespace among `held`
                self._ledger.remove(other)
        stored = self._ledger.remove(ref, last) if ref in shelves else self._ledger.whole(stood)
        for other in shared:
            if other in shelves:
                self._disown(other)
        for namespace in dict.fromkeys(other.namespace for other in doomed):
            self._end(namespace)
        return stored

    def _follow(self, ref: ObjectRef) -> tuple[Sequence[ObjectRef], ...]:
        """What goes with an object (itself first), what of its own has to wait, what has other owners."""
        owners = self._ledger.owners
        doomed = {ref: self._ledger.found(ref).uid}
        held: dict[ObjectRef, None] = {}
        shared: dict[ObjectRef, None] = {}
        uids = set(doomed.values())
        pending = deque(uids)
        while pending:
            for other in owners.dependents(pending.popleft()):
                if other in doomed or other in held:
                    continue
                shared.pop(other, None)
                if owners.survive(other, uids):
                    shared[other] = None
                elif other.group_kind == kinds.NAMESPACE or self._held(other, self._ledger.document(other)):
                    held[other] = None
                else:
                    doomed[other] = uid = self._ledger.found(other).uid
                    uids.add(uid)
                    pending.append(uid)
        return tuple(doomed), tuple(held), tuple(shared)

    def _disown(self, ref: ObjectRef) -> None:
        """Strike out an object's owners that are gone."""
        document = self._ledger.document(ref)
        owners = [one for one in owner_references(document) if not self._ledger.owners.is_gone(one["uid"])]
        document["metadata"]["ownerReferences"] = owners
        self._ledger.save(ref, document)

    def _end(self, namespace: str) -> None:
        """Remove a namespace that waited only for its contents."""
        if namespace in self._ledger.terminating:
            ref = kinds.namespace_ref(namespace)
            if not self._held(ref, self._ledger.document(ref)):
                self._remove(ref)
