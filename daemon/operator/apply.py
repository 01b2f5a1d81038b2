"""Applies the objects of an installation: a dry run of all that differ, then the writes, in their order."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Invalid, StorageUnavailable, StoredObject
from syncret.daemon.operator.cluster import DEPLOYMENT, RIGHTS, Cluster
from syncret.daemon.operator.compare import difference, is_unchanged, others
from syncret.daemon.operator.contests import Contests
from syncret.daemon.operator.immutable import immutable_difference, is_managed, under_spare_name
from syncret.daemon.operator.takeover import obsolete, renamed

Verb: TypeAlias = Literal["created", "updated", "brought back", "taken over", "recreated"]


class Step(NamedTuple):
    """An object that was written."""

    verb: Verb
    ref: ObjectRef


class Installed(NamedTuple):
    """The result of a run."""

    steps: Sequence[Step]
    found: Sequence[ObjectRef]
    """The objects that were there before."""


class Planned(NamedTuple):
    """An object that is to be written."""

    wanted: Document
    live: StoredObject | None
    tried: StoredObject | None
    """The result of a dry run at the API server; None: there was none."""


class Installer:
    """Applies objects, and remembers what was applied, to distinguish a repair from a new configuration."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._applied: dict[ObjectRef, bytes] = {}
        self.contests = Contests(cluster.contested_after)
        self.rights_since = float("-inf")
        """When rights were given last, perhaps to ourselves."""
        self.contested: dict[ObjectRef, str] = {}
        """Objects that are not repaired for a while, each with the other writer."""
        self._dropped: Collection[str] = ()
        self._found: list[ObjectRef] = []

    async def install(
        self, wanted: Sequence[Document], first: int, writes: Writes, dropped: Collection[str] = ()
    ) -> Installed:
        """Apply the objects. Raises HomeError; then nothing is written but the `first` few.

        The dry run of the others needs these few: the namespace, and rights in it.
        Annotations of the `dropped` keys are removed, whichever manager has written them.
        """
        self._forget_contests()
        self._dropped, self._found = dropped, []
        steps: list[Step] = []
        for document in wanted[:first]:
            live = self._cluster.live(document)
            if live is not None:
                self._found.append(live.ref)
            steps += await self._write(Planned(document, live, None), writes)
        planned = [each for each in [await self._try(document) for document in wanted[first:]] if each]
        for each in planned:
            steps += await self._write(each, writes)
        return Installed(steps, self._found)

    async def _try(self, wanted: Document) -> Planned | None:
        """Ask for a dry run of what differs; None where nothing has to be written."""
        ref, live = ref_of(wanted), self._cluster.live(wanted)
        if live is not None:
            self._found.append(ref)
            if not self._differs(wanted, live.document):
                self._applied[ref] = _encoded(wanted)
                return None
        is_new = self._applied.get(ref) != _encoded(wanted)
        if not is_new and self.contests.waits(ref, self._cluster.now()):
            return None
        if live is not None and immutable_difference(wanted, live.document):
            return await self._try_recreating(wanted, live)
        try:
            tried = await self._cluster.applier.apply(wanted, dry_run=True)
        except Invalid:
            hidden = await self._unwatched(wanted) if live is None else None
            if hidden is None or not immutable_difference(wanted, hidden.document):
                raise
            return await self._try_recreating(wanted, hidden)
        if live is None and tried.resource_version:  # it is there, without the label by which we watch
            live = await self._unwatched(wanted)
        if live is None:
            return Planned(wanted, None, tried)
        found = live.document
        if is_unchanged(found, tried.document) and not self._foreign(wanted, found):
            self._applied[ref] = _encoded(wanted)
            return None
        return Planned(wanted, live, tried)

    async def _unwatched(self, wanted: Document) -> StoredObject | None:
        """The object at the API server, if it is not watched because it lacks the label."""
        live = await self._cluster.applier.look(ref_of(wanted))
        if live is not None:
            self._found.append(live.ref)
        return live

    async def _try_recreating(self, wanted: Document, live: StoredObject) -> Planned:
        """Plan an object that must be deleted and created again, as an immutable field differs."""
        field, ref = immutable_difference(wanted, live.document), live.ref
        if live.document["metadata"].get("deletionTimestamp"):
            raise StorageUnavailable(f"{ref} is being deleted: waits until it is gone")
        if not is_managed(live.document):
            raise Invalid(
                f"{ref}: its {field} is another one and cannot be changed, and it has no label of ours: "
                "delete it, or install in another namespace"
            )
        if wanted["kind"] == DEPLOYMENT.kind:  # of bindings, nothing comes from the configuration
            await self._cluster.applier.apply(under_spare_name(wanted), dry_run=True)
        return Planned(wanted, live, None)

    def _foreign(self, wanted: Document, live: Document) -> Sequence[str]:
        """What has to be removed, as JSON pointers."""
        return [*obsolete(wanted, live, self._dropped), *difference(wanted, live).foreign]

    def _differs(self, wanted: Document, live: Document) -> bool:
        return bool(difference(wanted, live)) or any(obsolete(wanted, live, self._dropped))

    async def _write(self, planned: Planned, writes: Writes) -> Sequence[Step]:
        wanted, live, tried = planned
        ref = ref_of(wanted)
        if tried is None and live is not None and not self._differs(wanted, live.document):
            return ()
        verb = self._verb(wanted, live)
        if live is not None and immutable_difference(wanted, live.document):
            await delete_if_there(writes, live)
            verb = "recreated"
        elif live is not None:
            await self._prepare(wanted, live, writes)
        applier = self._cluster.applier
        await writes.call(lambda: applier.apply(wanted))
        if ref.group_kind in RIGHTS:
            self.rights_since = self._cluster.now()
        self._applied[ref] = _encoded(wanted)
        return (Step(verb, ref),)

    async def _prepare(self, wanted: Document, live: StoredObject, writes: Writes) -> None:
        """Take over what the former operator wrote, and remove what others have added to our lists."""
        fields = renamed(live.document)
        operations: list[Document] = [
            {"op": "remove", "path": path} for path in self._foreign(wanted, live.document)
        ]
        if fields is not None:
            operations.append({"op": "replace", "path": "/metadata/managedFields", "value": list(fields)})
        if operations:
            await writes.call(lambda: self._cluster.applier.edit(live, operations))

    def _verb(self, wanted: Document, live: StoredObject | None) -> Verb:
        ref = ref_of(wanted)
        before = self._applied.get(ref)
        if before is None:
            return "created" if live is None else "taken over" if renamed(live.document) else "updated"
        if before != _encoded(wanted):
            return "updated"
        self._cluster.metrics.repaired(ref.kind)
        if live is not None:
            other = others(live.document)
            if self.contests.repaired(ref, other, self._cluster.now()):
                self.contested[ref] = other
        return "brought back"

    def _forget_contests(self) -> None:
        now = self._cluster.now()
        self.contested = {
            ref: other for ref, other in self.contested.items() if self.contests.waits(ref, now)
        }


def _encoded(document: Document) -> bytes:
    return msgspec.json.encode(document, order="sorted")
