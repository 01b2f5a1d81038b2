"""Makes the objects what they should be: tries all that differs, and then writes it, in its order."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.operator.cluster import RIGHTS, Cluster
from syncret.daemon.operator.compare import difference, is_unchanged, others, renamed
from syncret.daemon.operator.contests import Contests

Verb: TypeAlias = Literal["created", "updated", "brought back", "taken over"]


class Step(NamedTuple):
    """An object that was written."""

    verb: Verb
    ref: ObjectRef


class Planned(NamedTuple):
    """An object that is to be written."""

    wanted: Document
    live: StoredObject | None
    tried: StoredObject | None
    """What the API server would make of it; None: it was not asked."""


class Installer:
    """Applies objects, and remembers what was applied: so repairs are told from changes of what is wanted."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._applied: dict[ObjectRef, bytes] = {}
        self.contests = Contests(cluster.contested_after)
        self.rights_since = float("-inf")
        """When rights were given last, perhaps to ourselves."""
        self.contested: dict[ObjectRef, str] = {}
        """Objects that are left for a while, with who else writes them."""

    async def install(self, wanted: Sequence[Document], first: int, writes: Writes) -> Sequence[Step]:
        """Make the objects so. Raises HomeError; of all but the `first` few, nothing is written then.

        These few are what the others need before they can even be tried: the namespace, and rights in it.
        """
        self._forget_contests()
        steps: list[Step] = []
        for document in wanted[:first]:
            steps += await self._write(Planned(document, self._cluster.live(document), None), writes)
        planned = [each for each in [await self._try(document) for document in wanted[first:]] if each]
        for each in planned:
            steps += await self._write(each, writes)
        return steps

    async def _try(self, wanted: Document) -> Planned | None:
        """Ask for a dry run of what differs; None where nothing has to be written."""
        ref, live = ref_of(wanted), self._cluster.live(wanted)
        if live is not None and not difference(wanted, live.document):
            self._applied[ref] = _encoded(wanted)
            return None
        if self.contests.waits(ref, self._cluster.now()):
            return None
        tried = await self._cluster.applier.apply(wanted, dry_run=True)
        if live is None and tried.resource_version:  # it is there, without the label by which we watch
            live = await self._cluster.applier.look(ref)
        if live is None:
            return Planned(wanted, None, tried)
        found = live.document
        if is_unchanged(found, tried.document) and not difference(wanted, found).foreign:
            self._applied[ref] = _encoded(wanted)
            return None
        return Planned(wanted, live, tried)

    async def _write(self, planned: Planned, writes: Writes) -> Sequence[Step]:
        wanted, live, tried = planned
        ref = ref_of(wanted)
        if tried is None and live is not None and not difference(wanted, live.document):
            return ()
        verb = self._verb(wanted, live)
        if live is not None:
            live = await self._prepared(wanted, live, writes)
        applier = self._cluster.applier
        await writes.call(lambda: applier.apply(wanted))
        if ref.group_kind in RIGHTS:
            self.rights_since = self._cluster.now()
        self._applied[ref] = _encoded(wanted)
        return (Step(verb, ref),)

    async def _prepared(self, wanted: Document, live: StoredObject, writes: Writes) -> StoredObject:
        """Take over what the former operator wrote, and take out what others have put into our lists."""
        document = live.document
        fields = renamed(document)
        operations: list[Document] = [
            {"op": "remove", "path": path} for path in difference(wanted, document).foreign
        ]
        if fields is not None:
            operations.append({"op": "replace", "path": "/metadata/managedFields", "value": list(fields)})
        if not operations:
            return live
        return await writes.call(lambda: self._cluster.applier.edit(live, operations))

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
