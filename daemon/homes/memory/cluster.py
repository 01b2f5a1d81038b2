"""The simulated cluster itself: a whole home in memory, and the base on which the filesystem home stands.

Every mutation is synchronous inside: journalled, stored and told to the watchers before the call returns, so
that the outcome of a run depends on nothing but the order of its calls. Other than with an API server and its
controllers, what follows from a deletion (owned objects, the contents of a namespace) happens inside the call
that caused it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, Metadata, ObjectRef, ref_of
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.selectors import check, matches
from syncret.daemon.homes.contract import AlreadyExists, Conflict, Forbidden, Invalid, Stored
from syncret.daemon.homes.memory import kinds, requests
from syncret.daemon.homes.memory.garbage_collector import Collector
from syncret.daemon.homes.memory.metadata import is_named, random_uid
from syncret.daemon.homes.memory.object_store import Ledger
from syncret.daemon.homes.memory.plugins import Admission, Journal, Vault, admit_all
from syncret.daemon.homes.memory.requests import Draft, merged
from syncret.daemon.homes.memory.watch import Watch


class _Labelled(msgspec.Struct, frozen=True):
    metadata: Metadata


class MemoryCluster:
    """Objects of any kind in memory. Implements `Backend`.

    A caller that has to do something slow or fallible before an object may be seen (write its files) splits a
    write: `prepare_create`, `prepare_update` and `prepare_apply` judge and complete the document without
    changing anything, `commit` makes the write, or raises Conflict where another came in between.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float],
        admission: Admission = admit_all,
        journal: Journal | None = None,
        vault: Vault | None = None,
        new_uid: Callable[[], str] = random_uid,
        version: int = 0,
    ) -> None:
        """`version` is the last resource version that an earlier life of this cluster gave."""
        self._now = now
        self._admission = admission
        self._new_uid = new_uid
        self._ledger = Ledger(journal=journal, vault=vault, version=version)
        self._collector = Collector(self._ledger, lambda: stamp(now()))

    # ------------------------------------------------------------------------------------------ a former life
    @property
    def version(self) -> int:
        """The last resource version that was given."""
        return self._ledger.version

    def restore(self, stored: Stored) -> None:
        """Take over a version as the journal kept it, before anybody watches or writes."""
        self._ledger.restore(stored)

    # ------------------------------------------------------------------------------------------------- source
    def kinds(self) -> Collection[GroupKind]:
        """The kinds of which there is an object: any kind may be stored."""
        return self._ledger.shelves.kinds()

    def watch(self) -> Watch:
        """Every object in the order of references, then SYNCED, then every change; from this call on."""
        return self._ledger.watch()

    async def idle(self) -> None:
        """Return once every watcher has read everything and waits for more."""
        await self._ledger.hub.idle()

    # ------------------------------------------------------------------------------------------------- target
    async def get(self, ref: ObjectRef) -> Stored | None:
        """The object, or None."""
        stored = self._ledger.shelves.get(ref)
        return None if stored is None else self._ledger.whole(stored)

    def untouched(self, ref: ObjectRef) -> bool:
        """Nothing is known without a look; a look is cheap here."""
        del ref
        return False

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[Stored]:
        """Objects of a kind, ordered by namespace and name. Raises Malformed for a bad selector."""
        if selector is not None:
            check(selector)
        return [
            self._ledger.whole(stored)
            for stored in self._ledger.shelves.of_kind(group_kind, namespace)
            if selector is None or matches(selector, stored.as_type(_Labelled).metadata.labels)
        ]

    async def create(self, document: Document, *, manager: str = "") -> Stored:
        """Raises AlreadyExists, Invalid or Forbidden."""
        return self.commit(self.prepare_create(document, manager=manager))

    async def update(self, document: Document, *, manager: str = "") -> Stored:
        """Replace all but the status. Raises NotFound, Conflict or Invalid."""
        return self.commit(self.prepare_update(document, manager=manager))

    async def set_finalizers(self, stored: Stored, finalizers: Sequence[str]) -> Stored:
        """Replace the finalizers of this version. Raises NotFound, Conflict or Invalid."""
        return self.commit(self.prepare_finalizers(stored, finalizers))

    async def delete(self, ref: ObjectRef, *, uid: str = "") -> None:
        """Mark for deletion, or remove with all that hangs on it. Raises NotFound or Conflict."""
        if uid and self._ledger.found(ref).uid != uid:
            raise Conflict(f"{ref}: the object of that name is another one now")
        self._ledger.found(ref)
        self._collector.retire(ref)

    def touched(self, ref: ObjectRef) -> None:
        """Tell the watchers that what the vault keeps of an object may have changed there."""
        self._ledger.drifted(ref)

    # ------------------------------------------------------------------------------------------------- status
    async def report(self, ref: ObjectRef, status: Mapping[str, Any], *, uid: str) -> Stored | None:
        """Replace the status of this life of the object; None where it is gone."""
        stored = self._ledger.shelves.get(ref)
        if stored is None or stored.uid != uid:
            return None
        document = self._ledger.document(ref)
        before, document["status"] = document.get("status"), dict(status)
        if before is not None and requests.encode(before) == requests.encode(document["status"]):
            return self._ledger.whole(stored)
        return self._ledger.save(ref, document)

    # -------------------------------------------------------------------------------------- a user's commands
    async def apply(self, document: Document) -> Stored:
        """Create the object, or replace it; uid, status, owner references and finalizers survive."""
        return self.commit(self.prepare_apply(document))

    async def patch(self, ref: ObjectRef, merge: Document) -> Stored:
        """Lay a JSON merge patch over an object, metadata included. Raises NotFound, Conflict or Invalid."""
        document = merged(self._ledger.document(ref), merge)
        if not is_named(document) or ref_of(document) != ref:
            raise Invalid(f"{ref}: a patch cannot change the kind, the namespace or the name of an object")
        return self.commit(self.prepare_update(document))

    # ------------------------------------------------------------------------------------ writes in two steps
    def prepare_create(self, document: Document, *, manager: str = "") -> Draft:
        """Judge and complete a new object. Raises AlreadyExists, Invalid or Forbidden."""
        draft = self._creation(document, manager)
        if self._ledger.shelves.get(draft.ref) is not None:
            raise AlreadyExists(f"{draft.ref} already exists")
        self._check_namespace(draft.ref)
        return draft

    def prepare_update(self, document: Document, *, manager: str = "") -> Draft:
        """Judge and complete a new version. Raises NotFound, Conflict or Invalid."""
        ref = requests.identified(document, self._admission)
        before = self._ledger.found(ref)
        return requests.replaced(
            document,
            before,
            self._ledger.document(ref),
            admission=self._admission,
            manager=manager,
            timestamp=stamp(self._now()),
        )

    def prepare_finalizers(self, stored: Stored, finalizers: Sequence[str]) -> Draft:
        """Judge other finalizers for a version. Raises NotFound, Conflict or Invalid."""
        before = self._ledger.found(stored.ref)
        return requests.held_by(finalizers, stored, before, self._ledger.document(stored.ref))

    def prepare_apply(self, document: Document) -> Draft:
        """Judge and complete what a user applies. Raises Invalid or Forbidden."""
        ref = requests.identified(document, self._admission)
        if self._ledger.shelves.get(ref) is None:
            draft = self._creation(document)
            ref = draft.ref  # admission may have placed it in the default namespace
            if self._ledger.shelves.get(ref) is None:
                self._check_namespace(ref)
                return draft
        return self.prepare_update(requests.surviving(document, self._ledger.document(ref)))

    def commit(self, draft: Draft) -> Stored:
        """Make a prepared write. Raises Conflict where the object changed since, or Forbidden.

        What comes back is what was written, even where that let the object go: because its last finalizer was
        dropped, or because its owners are gone.
        """
        if self._ledger.shelves.get(draft.ref) is not draft.before:
            raise Conflict(f"{draft.ref}: the object has been modified since this write was prepared")
        if draft.before is not None and not draft.changed:
            return self._ledger.whole(draft.before)
        if draft.before is None:
            self._check_namespace(draft.ref)
            self._ensure_namespace(draft.ref.namespace)
        elif (gone := self._collector.release(draft.ref, draft.document)) is not None:
            return gone
        stored = self._ledger.save(draft.ref, draft.document)
        self._collector.adopt(draft.ref)
        return stored

    def _creation(self, document: Document, manager: str = "") -> Draft:
        return requests.created(
            document,
            admission=self._admission,
            uid=self._new_uid(),
            timestamp=stamp(self._now()),
            manager=manager,
        )

    def _check_namespace(self, ref: ObjectRef) -> None:
        if ref.namespace in self._ledger.terminating:
            raise Forbidden(f"{ref}: its namespace is being terminated, nothing can be created in it")

    def _ensure_namespace(self, name: str) -> None:
        """A namespace that is used but was never given exists."""
        if name and self._ledger.shelves.get(kinds.namespace_ref(name)) is None:
            self.commit(self.prepare_create(kinds.namespace_document(name)))
