"""The simulated cluster itself: a whole home in memory, and the base on which the filesystem home stands.

Every mutation is synchronous inside: journalled, stored and announced to the watchers before the call
returns, so that the outcome of a run depends only on the order of its calls. Unlike an API server and its
controllers, the cluster deletes dependents (owned objects, the contents of a namespace) inside the call that
deletes the owner.
"""

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, Metadata, ObjectRef, ref_of
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.selectors import check, matches
from syncret.daemon.homes.contract import (
    AlreadyExists,
    Conflict,
    Forbidden,
    HomeProblem,
    Invalid,
    ManifestPlace,
    StoredObject,
)
from syncret.daemon.homes.memory import kinds, requests
from syncret.daemon.homes.memory.garbage_collector import GarbageCollector
from syncret.daemon.homes.memory.metadata import is_named, random_uid
from syncret.daemon.homes.memory.object_store import ObjectStore
from syncret.daemon.homes.memory.plugins import (
    AdmissionPlugin,
    ContentStore,
    Journal,
    admit_all,
    pass_through,
)
from syncret.daemon.homes.memory.requests import WriteRequest, merged
from syncret.daemon.homes.memory.watch import Broadcaster, Watch
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Malformed


class _Labelled(msgspec.Struct, frozen=True):
    metadata: Metadata


class MemoryCluster:
    """Objects of any kind in memory. Implements `Home`.

    A caller that has to do something slow or fallible before an object may be seen (write its files) splits a
    write: `prepare_create`, `prepare_update` and `prepare_apply` validate and complete the document without
    changing anything, `commit` makes the write, or raises Conflict if there was another in between.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float],
        admission: AdmissionPlugin = admit_all,
        journal: Journal | None = None,
        contents: ContentStore | None = None,
        new_uid: Callable[[], str] = random_uid,
        version: int = 0,
    ) -> None:
        """`version` is the last resource version before a restart."""
        self._now = now
        self._admission = admission
        self._new_uid = new_uid
        self._store = ObjectStore(journal=journal, contents=contents, version=version)
        self._garbage_collector = GarbageCollector(self._store, lambda: stamp(now()))

    # ---------------------------------------------------------------------------------------------- restoring
    @property
    def version(self) -> int:
        """The last resource version that was given."""
        return self._store.version

    def restore(self, stored: StoredObject) -> None:
        """Take over a version from the journal, before the first watch or write."""
        self._store.restore(stored)

    # ------------------------------------------------------------------------------------------------- source
    def kinds(self) -> Collection[GroupKind]:
        """The kinds of which there is an object: any kind may be stored."""
        return self._store.index.kinds()

    def watch(self) -> Watch:
        """Every object in the order of references, LISTED for each kind, then every change."""
        return self._store.watch()

    async def announced(self) -> None:
        """Return once every watcher has read everything and waits for more."""
        await self._store.broadcaster.idle()

    @property
    def broadcaster(self) -> Broadcaster:
        """Announces every change to the watches before the call that makes it returns."""
        return self._store.broadcaster

    def snapshot(self, group_kind: GroupKind) -> Sequence[StoredObject]:
        """Objects of a kind as a watch announces them, in the order of their namespaces and names."""
        return self._store.index.of_kind(group_kind)

    # ------------------------------------------------------------------------------------------------- target
    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """The object, or None."""
        stored = self._store.index.get(ref)
        return None if stored is None else self._store.whole(stored)

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """Nothing is known without a look; a look is cheap here."""
        del ref
        return False

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """Objects of a kind, ordered by namespace and name. Raises Malformed for a bad selector."""
        if selector is not None:
            check(selector)
        return [
            self._store.whole(stored)
            for stored in self._store.index.of_kind(group_kind, namespace)
            if selector is None or matches(selector, stored.as_type(_Labelled).metadata.labels)
        ]

    def is_absent(self, ref: ObjectRef) -> bool:
        """Nothing is known without a look; a look is cheap here."""
        del ref
        return False

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """Raises AlreadyExists, Invalid or Forbidden."""
        return self.commit(self.prepare_create(document, field_manager=field_manager))

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """Replace all but the status. Raises NotFound, Conflict or Invalid."""
        return self.commit(self.prepare_update(document, field_manager=field_manager))

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """Replace the finalizers of this version. Raises NotFound, Conflict or Invalid."""
        return self.commit(self.prepare_finalizers(seen, finalizers))

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """Mark this version for deletion, or remove it with what it owns. Raises NotFound or Conflict."""
        _check_version(self._store.found(seen.ref), seen)
        self._garbage_collector.delete(seen.ref)
        return self._store.index.get(seen.ref)

    async def check_durable(self) -> None:
        """Always durable, for as long as the process lives."""

    def may_mark(self, ref: ObjectRef) -> bool:
        """Any object may, as in a cluster."""
        del ref
        return True

    def touched(self, ref: ObjectRef) -> None:
        """Announce that the content of an object in the content store may have changed."""
        self._store.drifted(ref)

    # ------------------------------------------------------------------------------------------------- status
    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        """Replace the status of this version; None where the object is gone. Raises Conflict."""
        stored = self._store.index.get(seen.ref)
        if stored is None or stored.uid != seen.uid:
            return None
        _check_version(stored, seen)
        document = self._store.whole(stored).partly_decoded("metadata")
        before, document["status"] = document.get("status"), dict(status)
        if before is not None and requests.encode(before) == requests.encode(document["status"]):
            return stored
        return self._store.replace(stored, document)

    # ------------------------------------------------------------------------------------------ a whole home
    @property
    def writes_at_once(self) -> int:
        """Writes wait for nothing here: as many as there are runs."""
        return sys.maxsize

    def owns(self, ref: ObjectRef) -> bool:
        """Always: there are no other replicas."""
        del ref
        return True

    def is_behind(self, group_kind: GroupKind) -> bool:
        """As `Home` says: there is one replica."""
        del group_kind
        return False

    async def ownership_changed(self) -> None:
        """Never returns."""
        await asyncio.get_running_loop().create_future()

    def problems(self) -> Sequence[HomeProblem]:
        """None: nothing outside of the process is needed."""
        return ()

    def record_event(self, seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        """Do nothing: events are not kept."""

    def manifest_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """None: objects come from requests."""
        del ref
        return None

    async def field_place(self, ref: ObjectRef, field: str, text_line: int = 0) -> ManifestPlace | None:
        """None, as `manifest_of`."""
        del ref, field, text_line
        return None

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """Refused: no server would trust the accounts of a simulated cluster."""
        raise no_token(account, audiences, seconds)

    @property
    def waiting_deletions(self) -> int:
        """None: objects are deleted by requests."""
        return 0

    async def run(self) -> None:
        """Nothing has to be followed; until cancelled."""
        await asyncio.get_running_loop().create_future()

    # -------------------------------------------------------------------------------------- a user's commands
    async def remove(self, ref: ObjectRef, *, uid: str = "") -> None:
        """Delete the object of this name in any version. Raises NotFound, or Conflict for another uid."""
        found = self._store.found(ref)
        if uid and found.uid != uid:
            raise Conflict(f"{ref}: the object of that name is another one now")
        self._garbage_collector.delete(ref)

    async def apply(self, document: Document) -> StoredObject:
        """Create the object, or replace it; uid, status, owner references and finalizers survive."""
        return self.commit(self.prepare_apply(document))

    async def patch(self, ref: ObjectRef, merge: Document) -> StoredObject:
        """Lay a JSON merge patch over an object, metadata included. Raises NotFound, Conflict or Invalid."""
        document = merged(self._store.document(ref), merge)
        if not is_named(document) or ref_of(document) != ref:
            raise Invalid(f"{ref}: a patch cannot change the kind, the namespace or the name of an object")
        return self.commit(self.prepare_update(document))

    # ------------------------------------------------------------------------------------ writes in two steps
    def prepare_create(self, document: Document, *, field_manager: str = "") -> WriteRequest:
        """Validate and complete a new object. Raises AlreadyExists, Invalid or Forbidden."""
        request = self._creation(document, admission=self._admission, field_manager=field_manager)
        if self._store.index.get(request.ref) is not None:
            raise AlreadyExists(f"{request.ref} already exists")
        self._check_namespace(request.ref)
        return request

    def prepare_update(self, document: Document, *, field_manager: str = "") -> WriteRequest:
        """Validate and complete a new version. Raises NotFound, Conflict or Invalid."""
        ref = requests.ref_of_request(document, self._admission)
        before = self._store.found(ref)
        return requests.for_update(
            document,
            before,
            self._store.whole(before).document,
            admission=self._admission,
            field_manager=field_manager,
            timestamp=stamp(self._now()),
        )

    def prepare_finalizers(self, stored: StoredObject, finalizers: Sequence[str]) -> WriteRequest:
        """Validate other finalizers for a version. Raises NotFound, Conflict or Invalid."""
        before = self._store.found(stored.ref)
        return requests.for_finalizers(finalizers, stored, before, self._store.whole(before).document)

    def prepare_apply(self, document: Document, *, admitted: bool = False) -> WriteRequest:
        """Validate and complete an applied document. Raises Invalid or Forbidden.

        A document that is `admitted` has passed admission as a new object already.
        """
        ref = requests.ref_of_request(document, self._admission)
        standing = self._store.index.get(ref)
        if standing is None:
            request = self._creation(document, admission=pass_through if admitted else self._admission)
            if request.ref != ref:  # admission has placed it in the default namespace
                standing = self._store.index.get(request.ref)
            if standing is None:
                self._check_namespace(request.ref)
                return request
        return self.prepare_update(requests.for_apply(document, self._store.whole(standing).document))

    def commit(self, request: WriteRequest) -> StoredObject:
        """Make a prepared write. Raises Conflict where the object changed since, or Forbidden.

        Returns the version that was written, even if that removed the object: because its last finalizer was
        dropped, or because its owners are gone.
        """
        ref, document, before, changed = request
        if self._store.index.get(ref) is not before:
            raise Conflict(f"{ref}: the object has been modified since this write was prepared")
        if before is None:
            self._check_namespace(ref)
            self._ensure_namespace(ref.namespace)
            stored = self._store.add(ref, document)
        elif not changed:
            return before
        elif (gone := self._garbage_collector.finalize(ref, document)) is not None:
            return gone
        else:
            stored = self._store.replace(before, document)
        self._garbage_collector.collect_if_orphaned(ref)
        return stored

    def _creation(
        self, document: Document, *, admission: AdmissionPlugin, field_manager: str = ""
    ) -> WriteRequest:
        return requests.for_create(
            document,
            admission=admission,
            uid=self._new_uid(),
            timestamp=stamp(self._now()),
            field_manager=field_manager,
        )

    def _check_namespace(self, ref: ObjectRef) -> None:
        if ref.namespace in self._store.terminating:
            raise Forbidden(f"{ref}: its namespace is being terminated, nothing can be created in it")

    def _ensure_namespace(self, name: str) -> None:
        """Create a namespace that is used but was not created."""
        if name and self._store.index.get(kinds.namespace_ref(name)) is None:
            self.commit(self.prepare_create(kinds.namespace_document(name)))


def _check_version(found: StoredObject, seen: StoredObject) -> None:
    if (found.uid, found.resource_version) != (seen.uid, seen.resource_version):
        raise Conflict(f"{seen.ref}: the object has been modified; read it again")


def no_token(account: ObjectRef, audiences: Sequence[str], seconds: int) -> Malformed:
    """The refusal of a home without an API server."""
    receiver = f"for {', '.join(audiences)}" if audiences else "for its API server"
    return Malformed(
        f'ServiceAccount "{account.name}" of namespace "{account.namespace}": this home cannot issue a token '
        f"of {seconds} s {receiver}",
        hint="this home has no API server: let the store refer to a Secret",
    )
