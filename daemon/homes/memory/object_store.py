"""The object store: versions are numbered, journalled, stored and announced to the watchers here.

It has the newest version of every object by kind, then namespace, then name; and, for the garbage collector,
the owners of objects, and which owners are gone.
"""

from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from syncret.config.meta import Document, GroupKind, Metadata, ObjectRef
from syncret.daemon.homes.contract import NotFound, StoredObject, WatchEventType
from syncret.daemon.homes.memory import kinds, metadata
from syncret.daemon.homes.memory.plugins import ContentInMemory, ContentStore, Journal
from syncret.daemon.homes.memory.requests import encode
from syncret.daemon.homes.memory.watch import Broadcaster, Watch

_MOST_DELETED: Final = 10_000
"""Deleted owners that are remembered, for writers that are a moment late."""


def owner_references(document: Document) -> Sequence[dict[str, Any]]:
    """The owner references of a document."""
    references: Sequence[dict[str, Any]] = document["metadata"].get("ownerReferences", ())
    return references


class OwnerGraph:
    """Which objects name which uid as an owner.

    A uid that was never seen here counts as an owner that exists: the real collector asks the API server for
    it, and a simulation would lose objects whose owners it was not given. A uid that is gone counts as gone,
    even for objects that come after it.
    """

    def __init__(self) -> None:
        # Nearly every object has one owner and owns one: a single one is stored without a tuple.
        self._uids: dict[ObjectRef, str | tuple[str, ...]] = {}
        self._dependents: dict[str, ObjectRef | tuple[ObjectRef, ...]] = {}
        self._gone: dict[str, None] = {}

    def set_owners(self, ref: ObjectRef, uids: Sequence[str]) -> None:
        """Record the owners of the object; with none it is dropped."""
        if not uids and ref not in self._uids:
            return
        old, new = self._owners(ref), tuple(dict.fromkeys(uids))
        if new == old:
            return
        for uid in old:
            left = tuple(other for other in self._owned(uid) if other != ref)
            if left:
                self._dependents[uid] = left[0] if len(left) == 1 else left
            else:
                del self._dependents[uid]
        for uid in new:
            others = self._owned(uid)
            self._dependents[uid] = (*others, ref) if others else ref
        if new:
            self._uids[ref] = new[0] if len(new) == 1 else new
        else:
            del self._uids[ref]

    def dependents(self, uid: str) -> Sequence[ObjectRef]:
        """The objects that name the uid as an owner, in the order of their references."""
        return sorted(self._owned(uid))

    def mark_deleted(self, uid: str) -> None:
        """Remember that an object is gone."""
        self._gone[uid] = None
        if len(self._gone) > _MOST_DELETED:
            del self._gone[next(iter(self._gone))]

    def is_deleted(self, uid: str) -> bool:
        """Whether an object with that uid existed here and is gone."""
        return uid in self._gone

    def has_deleted_owner(self, ref: ObjectRef) -> bool:
        """Whether the object names an owner that is gone."""
        return bool(self._gone) and not self._gone.keys().isdisjoint(self._owners(ref))

    def has_live_owner(self, ref: ObjectRef, going: Collection[str]) -> bool:
        """Whether the object has an owner that is neither gone nor going."""
        return any(uid not in self._gone and uid not in going for uid in self._owners(ref))

    def _owners(self, ref: ObjectRef) -> tuple[str, ...]:
        owners = self._uids.get(ref, ())
        return (owners,) if isinstance(owners, str) else owners

    def _owned(self, uid: str) -> tuple[ObjectRef, ...]:
        owned = self._dependents.get(uid, ())
        return (owned,) if isinstance(owned, ObjectRef) else owned


class ObjectIndex:
    """The newest version of every object, by name."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], dict[str, dict[str, StoredObject]]] = {}
        """By group and kind, as they begin a reference: that is quicker than its `group_kind`."""

    def snapshot(self) -> Iterator[StoredObject]:
        """All objects as they are now, in the order of their references.

        They are sorted while they are read, namespace by namespace: a long list must not hold up the loop.
        """
        namespaces = [
            tuple(self._kinds[kind][namespace].values())
            for kind in self.kinds()
            for namespace in sorted(self._kinds[kind])
        ]
        return (stored for objects in namespaces for stored in sorted(objects, key=attrgetter("ref")))

    def __contains__(self, ref: ObjectRef) -> bool:
        return self.get(ref) is not None

    def kinds(self) -> Sequence[GroupKind]:
        """The kinds of which there is an object."""
        return tuple(GroupKind(*kind) for kind in sorted(self._kinds))

    def get(self, ref: ObjectRef) -> StoredObject | None:
        namespaces = self._kinds.get(ref[:2])
        objects = None if namespaces is None else namespaces.get(ref.namespace)
        return None if objects is None else objects.get(ref.name)

    def put(self, stored: StoredObject) -> None:
        """Place the version under its name, in place of the one before."""
        ref = stored.ref
        self._kinds.setdefault(ref[:2], {}).setdefault(ref.namespace, {})[ref.name] = stored

    def remove(self, ref: ObjectRef) -> None:
        """Take the object away; KeyError where there is none."""
        namespaces = self._kinds[ref[:2]]
        objects = namespaces[ref.namespace]
        del objects[ref.name]
        if not objects:
            del namespaces[ref.namespace]
        if not namespaces:
            del self._kinds[ref[:2]]

    def of_kind(self, kind: GroupKind, namespace: str | None = None) -> Sequence[StoredObject]:
        """Objects of a kind, in one namespace or all, in the order of their names."""
        namespaces = self._kinds.get(kind, {})
        chosen = sorted(namespaces) if namespace is None else [namespace]
        return [
            objects[name] for one in chosen if (objects := namespaces.get(one)) for name in sorted(objects)
        ]

    def in_namespace(self, namespace: str) -> Sequence[StoredObject]:
        """All objects in a namespace, in the order of their references."""
        return [stored for kind in self.kinds() for stored in self.of_kind(kind, namespace)]

    def is_empty(self, namespace: str) -> bool:
        """Whether nothing is in the namespace."""
        return not any(namespace in namespaces for namespaces in self._kinds.values())


class _Head(msgspec.Struct):
    metadata: Metadata


class ObjectStore:
    """All objects, their owners, and their watchers. It validates nothing."""

    def __init__(
        self, *, journal: Journal | None = None, contents: ContentStore | None = None, version: int = 0
    ) -> None:
        self.index = ObjectIndex()
        self.owners = OwnerGraph()
        self.broadcaster = Broadcaster()
        self.version = version
        self.terminating: set[str] = set()
        self._journal = journal
        self._contents = contents or ContentInMemory()

    def restore(self, stored: StoredObject) -> None:
        """Take over a version from a journal; it is neither journalled nor announced."""
        self.version = max(self.version, int(stored.resource_version))
        head = stored.as_type(_Head).metadata
        self._place(
            stored,
            owners=[reference.uid for reference in head.owner_references],
            dying=bool(head.deletion_timestamp),
        )

    def watch(self) -> Watch:
        return self.broadcaster.open(self.index.snapshot(), self.index.kinds())

    def whole(self, stored: StoredObject) -> StoredObject:
        """The version with what the content store keeps of it."""
        return self._contents.fill(stored)

    def found(self, ref: ObjectRef) -> StoredObject:
        """The version that stands under a name; raises NotFound."""
        stored = self.index.get(ref)
        if stored is None:
            raise NotFound(f"{ref} not found")
        return stored

    def document(self, ref: ObjectRef) -> Document:
        """The whole document that stands under a name, free to be changed; raises NotFound."""
        return self.whole(self.found(ref)).document

    def add(self, ref: ObjectRef, document: Document) -> StoredObject:
        """Store a document under a name that is free; returns the version that is announced."""
        return self._save(ref, document, WatchEventType.ADDED)

    def replace(self, standing: StoredObject, document: Document) -> StoredObject:
        """Store a document in place of this version; returns the version that is announced."""
        return self._save(standing.ref, document, WatchEventType.MODIFIED)

    def _save(self, ref: ObjectRef, document: Document, event: WatchEventType) -> StoredObject:
        stored = self._stamped(ref, document)
        if self._journal is not None:
            self._journal.saved(stored)
        owners = owner_references(document)
        self._place(
            stored,
            owners=[reference["uid"] for reference in owners] if owners else (),
            dying=metadata.is_being_deleted(document),
        )
        self.broadcaster.publish(event, stored)
        return stored

    def drifted(self, ref: ObjectRef) -> None:
        """Announce that the content of an object in the content store was changed from outside."""
        stored = self.index.get(ref)
        if stored is not None:
            self.broadcaster.publish(WatchEventType.DRIFTED, stored)

    def remove(self, ref: ObjectRef, last: Document | None = None) -> StoredObject:
        """Remove an object; `last` is the change that released it, which is announced."""
        stood = self.index.get(ref)
        if stood is None:
            raise NotFound(f"{ref} not found")
        final = stood if last is None else self._stamped(stood.ref, last)
        if self._journal is not None:
            self._journal.removed(ref)
        self.index.remove(ref)
        self.owners.set_owners(ref, ())
        self.owners.mark_deleted(stood.uid)
        if ref.group_kind == kinds.NAMESPACE:
            self.terminating.discard(ref.name)
        self.broadcaster.publish(WatchEventType.DELETED, final)
        return final

    def _stamped(self, ref: ObjectRef, document: Document) -> StoredObject:
        """The document as the next version, without what the content store keeps of it."""
        self.version += 1
        head = document["metadata"]
        head["resourceVersion"] = version = str(self.version)
        return StoredObject(
            ref=ref,
            uid=head["uid"],
            resource_version=version,
            generation=head.get("generation", 0),
            data=encode(self._contents.strip(ref, document)),
        )

    def _place(self, stored: StoredObject, *, owners: Sequence[str], dying: bool) -> None:
        self.index.put(stored)
        self.owners.set_owners(stored.ref, owners)
        if dying and stored.ref.group_kind == kinds.NAMESPACE:
            self.terminating.add(stored.ref.name)
