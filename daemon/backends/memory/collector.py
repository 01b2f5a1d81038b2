"""Deletion and what follows from it: finalizers, contents of namespaces, objects whose owners are gone.

A cluster has controllers for that, which run some moments later. Here it is part of the call that caused it,
and its order is fixed: owner before owned, contents before namespace, and among equals the order of their
references.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.backends.contract import Stored
from syncret.daemon.backends.memory import kinds, metadata
from syncret.daemon.backends.memory.ledger import Ledger
from syncret.daemon.backends.memory.owners import owner_references


class Collector:
    """Removes objects from a ledger as an API server and the controllers beside it do."""

    def __init__(self, ledger: Ledger, timestamp: Callable[[], str]) -> None:
        self._ledger = ledger
        self._timestamp = timestamp

    def retire(self, ref: ObjectRef) -> None:
        """Delete an object: mark it while something holds it, or remove it and then what hung on it."""
        self._retire_all([ref])

    def release(self, ref: ObjectRef, document: Document) -> Stored | None:
        """Remove an object that waited only for this, its last, change; None where something holds it."""
        if not metadata.is_being_deleted(document) or self._held(ref, document):
            return None
        stored = self._ledger.remove(ref, document)
        self._retire_all(self._consequences(stored))
        return stored

    def adopt(self, ref: ObjectRef) -> None:
        """Collect an object that was just written and belongs to an owner that is gone already."""
        if self._ledger.owners.bereft(ref):
            self._retire_all(self._orphans([ref]))

    def _retire_all(self, refs: Iterable[ObjectRef]) -> None:
        pending = deque(refs)
        while pending:
            ref = pending.popleft()
            if self._ledger.shelves.get(ref) is not None:
                pending.extend(self._retire_one(ref))

    def _retire_one(self, ref: ObjectRef) -> Sequence[ObjectRef]:
        """Mark or remove one object; returns what has to be retired next."""
        document = self._ledger.document(ref)
        marked = metadata.is_being_deleted(document)
        namespace = ref.group_kind == kinds.NAMESPACE
        if not marked and (namespace or self._held(ref, document)):
            metadata.marked_for_deletion(document, timestamp=self._timestamp())
            if namespace:
                kinds.complete_namespace(document, "Terminating")
            self._ledger.save(ref, document)
            if namespace:
                return [*(stored.ref for stored in self._ledger.shelves.in_namespace(ref.name)), ref]
        if self._held(ref, document):
            return ()
        return self._consequences(self._ledger.remove(ref))

    def _held(self, ref: ObjectRef, document: Document) -> bool:
        """Whether finalizers, or contents of a namespace, keep the object from going."""
        if document["metadata"].get("finalizers"):
            return True
        return ref.group_kind == kinds.NAMESPACE and not self._ledger.shelves.is_empty(ref.name)

    def _consequences(self, removed: Stored) -> Sequence[ObjectRef]:
        """What may go now that an object is gone: what it owned, and the namespace that waited for it."""
        orphans = self._orphans(self._ledger.owners.bury(removed.uid))
        if removed.ref.namespace in self._ledger.terminating:
            return [*orphans, kinds.namespace_ref(removed.ref.namespace)]
        return orphans

    def _orphans(self, refs: Iterable[ObjectRef]) -> Sequence[ObjectRef]:
        """The objects that have no owner left; the others lose their references to owners that are gone."""
        orphans: list[ObjectRef] = []
        for ref in refs:
            document = self._ledger.document(ref)
            left = [r for r in owner_references(document) if not self._ledger.owners.is_gone(r["uid"])]
            if left:
                document["metadata"]["ownerReferences"] = left
                self._ledger.save(ref, document)
            else:
                orphans.append(ref)
        return orphans
