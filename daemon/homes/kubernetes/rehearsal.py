"""A copy of a part of a cluster, to see what runs would write there: writes stay in memory.

Objects that the copy lacks are read from the API server when a run asks for them, with the rights of the
person who runs the plan. If a Secret may not be read, the run fails, instead of giving a wrong plan.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from syncret.config.catalog import Catalog
from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef, ref_of
from syncret.daemon.core.selectors import as_text
from syncret.daemon.homes.contract import StorageUnavailable, StoredObject
from syncret.daemon.homes.kubernetes.user import NotAllowed, UserCluster
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied

NOT_FROM_HERE = "not known from here"
"""Begins messages about things that only the daemon knows."""


class Rehearsal(MemoryCluster):
    """Implements `Home` on a cluster that is read and not written."""

    def __init__(self, cluster: UserCluster, catalog: Catalog, *, now: Callable[[], float]) -> None:
        super().__init__(now=now, admission=admission_by(catalog))
        self._cluster = cluster
        self._known: set[ObjectRef] = set()
        """Objects that were read from the API server already, or that the copy has in their place."""
        self._reading = asyncio.Lock()

    def load(self, document: Document) -> None:
        """Put an object into the copy, as the API server has it or would store it."""
        ref = ref_of(document)
        self._known.add(ref)
        metadata = document["metadata"]
        version = metadata.get("resourceVersion") or str(self.version + 1)
        document = {**document, "metadata": {**metadata, "resourceVersion": version}}
        self.restore(
            StoredObject(
                ref=ref,
                uid=metadata.get("uid") or "",
                resource_version=version,
                generation=metadata.get("generation") or 0,
                data=msgspec.json.encode(document),
            )
        )

    async def apply(self, document: Document) -> StoredObject:
        """Apply by our own rules, for users who may not ask the API server for a dry run. Raises Invalid."""
        stored = await super().apply(document)
        self._known.add(stored.ref)
        return stored

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """As `Home` says; objects that the copy lacks are read. Raises StorageUnavailable if not allowed."""
        async with self._reading:
            if ref not in self._known:
                try:
                    found = await self._cluster.get(ref)
                except NotAllowed as error:
                    self._cluster.note(error)
                    raise StorageUnavailable(f"{NOT_FROM_HERE}: {error}") from None
                self._known.add(ref)
                if found is not None:
                    self.load(found.document)
        return await super().get(ref)

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """As `Home` says; what a selector finds in the cluster is read, too."""
        if selector is not None:
            await self.look_for(group_kind, namespace or "", as_text(selector))
        return await super().list(group_kind, namespace=namespace, selector=selector)

    async def look_for(self, kind: GroupKind, namespace: str, labels: str = "") -> None:
        """Take the objects with these labels into the copy. Raises StorageUnavailable if not allowed."""
        found = await self._cluster.list(kind, namespace, labels=labels)
        if found is None:
            place = f" in namespace {namespace}" if namespace else ""
            raise StorageUnavailable(f"{NOT_FROM_HERE}: you may not list {kind}{place}")
        for stored in found:
            if stored.ref not in self._known:
                self.load(stored.document)

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As `Home` says: an object that the cluster has already exists."""
        await self.get(ref_of(document))
        return await super().create(document, field_manager=field_manager)

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """Refused: only the daemon may have tokens of other accounts."""
        del audiences, seconds
        raise Denied(
            f"{NOT_FROM_HERE}: a token of {account} is for the daemon alone",
            hint="only the daemon can tell: `syncret status --kubernetes` has its verdict",
        )
