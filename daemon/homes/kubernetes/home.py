"""The cluster home: objects are read from watches of an API server, and every write is a request to it.

The answer to a write is newer than the events of the watches, so the writer records it. Values of Secrets are
never kept: they are read by name when a run needs them.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Self

import msgspec

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem, Severity
from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef, is_object
from syncret.config.meta import ref_of as ref_of_document
from syncret.config.resources.kinds import Kinds
from syncret.daemon.core.ownership import MANAGED
from syncret.daemon.core.selectors import as_text, check
from syncret.daemon.homes.contract import (
    AlreadyExists,
    HomeProblem,
    ManifestPlace,
    NotFound,
    StorageUnavailable,
    StoredObject,
    Watch,
)
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.bodies import accepted, merge_patch, patch_body, without_server_fields
from syncret.daemon.homes.kubernetes.election import Election
from syncret.daemon.homes.kubernetes.events import ApiEvents, Events
from syncret.daemon.homes.kubernetes.objects import SECRET, stored_of
from syncret.daemon.homes.kubernetes.other_operator.foreign import ForeignWriters
from syncret.daemon.homes.kubernetes.other_operator.statuses import NoVersions, Versions
from syncret.daemon.homes.kubernetes.resources import Resource, Resources, listed
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.daemon.homes.kubernetes.streams import is_older
from syncret.daemon.homes.kubernetes.traffic import Traffic
from syncret.daemon.homes.kubernetes.watch import ClusterWatch
from syncret.providers.contract import IssuedToken
from syncret.providers.kit.http import Body, json_body
from syncret.providers.kit.kube.client import Kube

WRITES_AT_ONCE: Final = 24
"""More writes under way bring no throughput on an API server, and each takes longer."""


class KubernetesHome:
    """Implements `Home` on an API server."""

    def __init__(
        self,
        api: ApiServer,
        kube: Kube,
        *,
        catalog: Catalog,
        scope: Scope = Scope(),  # noqa: B008  # immutable
        on_problems: Callable[[Sequence[HomeProblem]], None] = lambda _: None,
        on_deleted: Callable[[ObjectRef], object] | None = None,
        election: Election | None = None,
    ) -> None:
        """Without an election this is the only replica.

        `on_deleted` is called with objects that runs delete, not with those of the garbage collector.
        """
        self._api = api
        self._kube = kube
        self._scope = scope
        self._resources = Resources(api, catalog)
        names = [*Kinds(catalog).names(), *scope.also] if scope.chosen is None else scope.chosen
        self._kinds = tuple(name for name in names if scope.chosen or scope.has(name))
        self._intact: dict[ObjectRef, str] = {}
        self._present: set[ObjectRef] = set()
        """Secrets that exist and that the watch may not have announced yet."""
        self._marks: dict[tuple[GroupKind, bool], str] = {}
        """The newest version of our own writes that each stream has to announce."""
        self._caught_up: dict[GroupKind, str] = {}
        """For each kind, the version of our Lease since which all writes of the former replica are known."""
        self._unknown: dict[GroupKind, str] = {}
        self._on_problems = on_problems
        self._on_deleted = on_deleted
        self._election = election
        self._foreign: ForeignWriters | None = None
        self._versions: Versions = NoVersions()
        self._traffic = Traffic()
        self._events = Events(ApiEvents(api), time.time, api.stats, self._traffic.give_way)
        api.on_change = self._report
        self._watches: list[ClusterWatch] = []

    @property
    def requests(self) -> tuple[ApiServer, Resources]:
        """The parts for requests that only this home can make."""
        return self._api, self._resources

    def retry_unknown(self, kinds: Collection[GroupKind] | None = None) -> None:
        """Ask at once for these kinds (None: for all) if they could not be watched."""
        for watch in self._watches:
            watch.retry_unknown(kinds)

    def look_for(self, foreign: ForeignWriters, versions: Versions) -> None:
        """Look for another operator: `versions` is shown all objects from the next watch on."""
        self._foreign, self._versions = foreign, versions

    # ------------------------------------------------------------------------------------------------- reader
    def kinds(self) -> Collection[GroupKind]:
        """As `Home` says: those that we have a model for."""
        return self._kinds

    def watch(self) -> Watch:
        """As `Home` says: a stream for each kind, all at once."""
        watch = ClusterWatch(
            self._api,
            self._resources,
            scope=self._scope,
            intact=self._intact,
            present=self._present,
            on_unknown=self._note_unknown,
            versions=self._versions,
        )
        for kind in self._kinds:
            watch.follow(kind)
        self._watches = [each for each in self._watches if not each.is_closed]
        self._watches.append(watch)
        return watch

    def _note_unknown(self, kind: GroupKind, why: str) -> None:
        """Note a kind that cannot be watched; a group of other operators once, as it is one right."""
        if kind.group in self._scope.exporting:
            kind = GroupKind(kind.group, "*")
        if why:
            self._unknown[kind] = why
        else:
            self._unknown.pop(kind, None)
        self._report()

    def _report(self) -> None:
        self._on_problems(self.problems())

    async def announced(self) -> None:
        """As `Home` says: the events of our own writes have come back."""
        for watch in self._watches:
            await watch.caught_up(self._marks)

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """As `Home` says: a request by name."""
        resource = await self._resources.find(ref.group_kind)
        if resource is None:
            return None
        answer = await self._api.read(resource.path_to(ref), doing=f"reading {ref}")
        if answer is None:
            return None
        self._note_present(resource, ref)
        return self._stored(resource, answer.body, whole=True)

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """As `Home` says: a consistent list, in pages."""
        if selector is not None:
            check(selector)
        resource = await self._resources.find(group_kind)
        if resource is None:
            return ()
        params = {} if selector is None else {"labelSelector": as_text(selector)}
        path = resource.path(namespace or self._scope.namespace)
        found = listed(self._api, path, doing=f"listing {group_kind}", params=params)
        stored = [stored_of(resource, each, whole=True) async for each in found]
        return sorted(stored, key=lambda each: each.ref)

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """As `Home` says: by the events of the watch, without a request."""
        return ref in self._intact

    def is_absent(self, ref: ObjectRef) -> bool:
        """As `Home` says: of Secrets, while both of their streams are whole."""
        if ref.group_kind != SECRET or ref in self._present or not self._watches:
            return False
        return self._watches[-1].lacks_secret(ref)

    def manifest_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """As `Home` says: nothing comes from a file."""
        del ref
        return None

    async def field_place(self, ref: ObjectRef, field: str, text_line: int = 0) -> ManifestPlace | None:
        """As `Home` says: nothing comes from a file."""
        del ref, field, text_line
        return None

    # ------------------------------------------------------------------------------------------------- writer
    async def check_durable(self) -> None:
        """As `Home` says: nothing is begun while the API server cannot be reached."""
        await self._api.check_reachable()

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As `Home` says: a POST."""
        resource = await self._resource_of(document)
        ref = ref_of_document(document)
        sent = json_body(without_server_fields(document))
        try:
            return await self._write("POST", resource, resource.path(ref.namespace), sent, ref, field_manager)
        except AlreadyExists:
            if resource.group_kind == SECRET:
                self._present.add(ref)
            raise

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As `Home` says: a PUT of the whole object, from the version that it names."""
        resource = await self._resource_of(document)
        ref = ref_of_document(document)
        metadata = document["metadata"]
        if not metadata.get("resourceVersion"):
            standing = await self.get(ref)
            if standing is None:
                raise NotFound(f"{ref} not found")
            document = {**document, "metadata": {**metadata, "resourceVersion": standing.resource_version}}
        return await self._write(
            "PUT", resource, resource.path_to(ref), json_body(document), ref, field_manager
        )

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """As `Home` says: a patch of this version."""
        resource = await self._resource(seen.ref)
        patch = {"metadata": {"resourceVersion": seen.resource_version, "finalizers": list(finalizers)}}
        return await self._write("PATCH", resource, resource.path_to(seen.ref), patch_body(patch), seen.ref)

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        """As `Home` says: a patch of this version, which names what differs."""
        resource = await self._resource(seen.ref)
        difference = merge_patch(seen.document.get("status") or {}, dict(status))
        if not difference:
            return seen
        patch = {"metadata": {"resourceVersion": seen.resource_version}, "status": difference}
        path = resource.path_to(seen.ref) + ("/status" if resource.has_status else "")
        try:
            return await self._write("PATCH", resource, path, patch_body(patch), seen.ref)
        except NotFound:
            return None

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """As `Home` says: a DELETE of this version."""
        resource = await self._resource(seen.ref)
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": seen.uid, "resourceVersion": seen.resource_version},
        }
        with self._traffic.writing():
            answer = await self._api.write(
                "DELETE",
                resource.path_to(seen.ref),
                json_body(options),
                doing=f"deleting {seen.ref}",
                accept=accepted(resource),
            )
        left: Document = answer.decode(Document)
        metadata = left.get("metadata")
        if not is_object(metadata) or not metadata.get("deletionTimestamp"):
            if self._on_deleted is not None:
                self._on_deleted(seen.ref)
            return None
        return self._own(resource, stored_of(resource, left))

    def may_mark(self, ref: ObjectRef) -> bool:
        """As `Home` says: any object."""
        del ref
        return True

    # ------------------------------------------------------------------------------------------ a whole home
    @property
    def writes_at_once(self) -> int:
        """As `Home` says."""
        return WRITES_AT_ONCE

    def owns(self, ref: ObjectRef) -> bool:
        """As `Home` says: all objects are the active replica's."""
        del ref
        return self._election is None or self._election.is_active

    def is_behind(self, group_kind: GroupKind) -> bool:
        """As `Home` says: until the watch has announced all writes from before we took the Lease."""
        if self._election is None:
            return False
        taken = self._election.taken
        if self._caught_up.get(group_kind) != taken:
            if not self._watches or not self._watches[-1].has_delivered(group_kind, taken):
                return True
            self._caught_up[group_kind] = taken
        return False

    async def ownership_changed(self) -> None:
        """As `Home` says: when this replica becomes the active one or ceases to be it, or may write again."""
        sources = [each for each in (self._election, self._foreign) if each is not None]
        if not sources:
            await asyncio.get_running_loop().create_future()
        changes = [asyncio.ensure_future(each.changed()) for each in sources]
        try:
            await asyncio.wait(changes, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for change in changes:
                change.cancel()

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """As `Home` says: issued by the API server."""
        return await self._kube.token(account.namespace, account.name, audiences=audiences, seconds=seconds)

    def problems(self) -> Sequence[HomeProblem]:
        """As `Home` says: kinds that cannot be watched, and a server that cannot be reached."""
        found = [
            HomeProblem(str(kind), Problem(path="", message=f"not watched: {why}", severity=Severity.WARNING))
            for kind, why in sorted(self._unknown.items())
        ]
        outage = self._api.outage
        if outage is not None:
            found.append(HomeProblem("API server", Problem(path="", message=str(outage), hint=outage.hint)))
        return found

    def record_event(self, seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        """As `Home` says: it is written as soon as there is room for it."""
        self._events.record(seen, warning=warning, reason=reason, message=message)

    @property
    def waiting_deletions(self) -> int:
        """As `Home` says: none, objects are deleted by requests."""
        return 0

    async def run(self) -> None:
        """As `Home` says: events are written; the watches follow by themselves."""
        await self._events.run()

    # --------------------------------------------------------------------------------------------------- help
    async def _resource(self, ref: ObjectRef) -> Resource:
        found = await self._resources.find(ref.group_kind)
        if found is None:
            raise StorageUnavailable(
                f"{ref}: the API server does not serve this kind",
                hint="install its CRD: `syncret export crds` has those of ours",
            )
        return found

    async def _resource_of(self, document: Document) -> Resource:
        group, _, version = str(document["apiVersion"]).rpartition("/")
        kind = GroupKind(group, document["kind"])
        found = await self._resources.find(kind, version) or await self._resources.find(kind)
        if found is None:
            raise StorageUnavailable(
                f"{kind}: the API server does not serve this kind",
                hint="install its CRD: `syncret export crds` has those of ours",
            )
        return found

    async def _write(
        self, method: str, resource: Resource, path: str, body: Body, ref: ObjectRef, field_manager: str = ""
    ) -> StoredObject:
        with self._traffic.writing():
            answer = await self._api.write(
                method,
                path,
                body,
                doing=f"writing {ref}",
                params={"fieldManager": field_manager or "syncret"},
                accept=accepted(resource),
            )
        return self._own(resource, self._stored(resource, answer.body))

    def _own(self, resource: Resource, stored: StoredObject) -> StoredObject:
        """Note a version that we wrote: its event is still to come."""
        is_managed = resource.group_kind == SECRET and f'"{MANAGED}":"true"'.encode() in stored.data
        key = (resource.group_kind, is_managed)
        if is_older(self._marks.get(key, ""), stored.resource_version):
            self._marks[key] = stored.resource_version
        self._note_present(resource, stored.ref)
        if is_older(self._intact.get(stored.ref, ""), stored.resource_version):
            self._intact.pop(stored.ref, None)  # until the watch announces its new data
        return stored

    def _note_present(self, resource: Resource, ref: ObjectRef) -> None:
        """Note a Secret that exists until the watch announces it, which may be cut off or late."""
        if resource.group_kind == SECRET and (not self._watches or self._watches[-1].is_to_announce(ref)):
            self._present.add(ref)

    @staticmethod
    def _stored(resource: Resource, body: bytes, *, whole: bool = False) -> StoredObject:
        return stored_of(resource, msgspec.json.decode(body), whole=whole)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._events.flush()
        for watch in self._watches:
            await watch.aclose()
