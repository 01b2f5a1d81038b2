"""The ledger: the one place where versions are numbered, journalled, stored and told to the watchers."""

from collections.abc import Sequence

import msgspec

from syncret.config.meta import Document, Metadata, ObjectRef
from syncret.daemon.backends.contract import Change, ChangeKind, NotFound, Stored
from syncret.daemon.backends.memory import kinds, metadata
from syncret.daemon.backends.memory.drafts import encode
from syncret.daemon.backends.memory.hooks import Journal, NoVault, Vault
from syncret.daemon.backends.memory.owners import Owners, owner_references
from syncret.daemon.backends.memory.shelves import Shelves
from syncret.daemon.backends.memory.watch import Hub, Watch


class _Head(msgspec.Struct):
    metadata: Metadata


class Ledger:
    """All objects, who owns them, and who watches them. Judges nothing."""

    def __init__(
        self, *, journal: Journal | None = None, vault: Vault | None = None, version: int = 0
    ) -> None:
        self.shelves = Shelves()
        self.owners = Owners()
        self.hub = Hub()
        self.version = version
        self.terminating: set[str] = set()
        self._journal = journal
        self._vault = vault or NoVault()

    def restore(self, stored: Stored) -> None:
        """Take over a version as a journal kept it: neither journalled nor told to anybody."""
        self.version = max(self.version, int(stored.resource_version))
        head = stored.as_type(_Head).metadata
        self._place(
            stored,
            owners=[reference.uid for reference in head.owner_references],
            dying=bool(head.deletion_timestamp),
        )

    def watch(self) -> Watch:
        return self.hub.open(self.shelves)

    def whole(self, stored: Stored) -> Stored:
        """The version with what the vault keeps of it."""
        return self._vault.unseal(stored)

    def found(self, ref: ObjectRef) -> Stored:
        """The version that stands under a name; raises NotFound."""
        stored = self.shelves.get(ref)
        if stored is None:
            raise NotFound(f"{ref} not found")
        return stored

    def document(self, ref: ObjectRef) -> Document:
        """The whole document that stands under a name, free to be changed; raises NotFound."""
        return self.whole(self.found(ref)).document

    def save(self, ref: ObjectRef, document: Document) -> Stored:
        """Let the document stand under its name as the next version."""
        standing = self.shelves.get(ref)
        whole = self._stamped(ref if standing is None else standing.ref, document)
        sealed = self._vault.seal(whole, document)
        if self._journal is not None:
            self._journal.saved(sealed)
        self._place(
            sealed,
            owners=[reference["uid"] for reference in owner_references(document)],
            dying=metadata.is_being_deleted(document),
        )
        self.hub.publish(Change(ChangeKind.ADDED if standing is None else ChangeKind.MODIFIED, sealed))
        return whole

    def drifted(self, ref: ObjectRef) -> None:
        """Tell the watchers that what the vault keeps of an object was touched there."""
        stored = self.shelves.get(ref)
        if stored is not None:
            self.hub.publish(Change(ChangeKind.DRIFTED, stored))

    def remove(self, ref: ObjectRef, last: Document | None = None) -> Stored:
        """Take an object away; `last` is the change that let it go, and what the watchers are told."""
        stood = self.shelves.get(ref)
        if stood is None:
            raise NotFound(f"{ref} not found")
        whole = self.whole(stood) if last is None else self._stamped(stood.ref, last)
        sealed = stood if last is None else self._vault.seal(whole, last)
        if self._journal is not None:
            self._journal.removed(ref)
        self.shelves.remove(ref)
        self.owners.enter(ref, ())
        self.owners.bury(whole.uid)
        if ref.group_kind == kinds.NAMESPACE:
            self.terminating.discard(ref.name)
        self.hub.publish(Change(ChangeKind.DELETED, sealed))
        return whole

    def _stamped(self, ref: ObjectRef, document: Document) -> Stored:
        self.version += 1
        head = document["metadata"]
        head["resourceVersion"] = version = str(self.version)
        return Stored(
            ref=ref,
            uid=head["uid"],
            resource_version=version,
            generation=head.get("generation", 0),
            data=encode(document),
        )

    def _place(self, stored: Stored, *, owners: Sequence[str], dying: bool) -> None:
        self.shelves.put(stored)
        self.owners.enter(stored.ref, owners)
        if dying and stored.ref.group_kind == kinds.NAMESPACE:
            self.terminating.add(stored.ref.name)
