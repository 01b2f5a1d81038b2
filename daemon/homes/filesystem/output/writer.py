"""Carries out the writes of controllers: their files are written between judging and committing them.

The order makes a crash harmless. First the state file says durably that the object exists, then the files
appear, then the cluster shows it: whatever the moment, the next start knows of every file that was written,
and an object whose files never came is dropped.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import Conflict, HomeError, Invalid, StorageUnavailable, StoredObject
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.output.group_commit import BatchExecutor, Job
from syncret.daemon.homes.filesystem.state.rows import without_content
from syncret.daemon.homes.filesystem.state.writer import StateJournal
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.requests import WriteRequest, encode


class OutputWriter:
    """Writes objects of the cluster and their files, one write at a time for each object."""

    def __init__(
        self,
        cluster: MemoryCluster,
        outputs: OutputContent,
        journal: StateJournal,
        hands: BatchExecutor[Job] | None,
    ) -> None:
        """`hands` write the files, because writes wait for the disk; without, it is done at once."""
        self._cluster = cluster
        self._outputs = outputs
        self._journal = journal
        self._hands = hands
        self._locks: WeakValueDictionary[ObjectRef, asyncio.Lock] = WeakValueDictionary()

    async def write(self, prepare: Callable[[], WriteRequest]) -> StoredObject:
        """Make one write of a controller: judged by `prepare`, its content put into files."""
        draft = prepare()
        if draft.ref in self._journal.forgotten:
            raise Invalid(
                f"{draft.ref}: this Secret comes from a systemd credential; nothing can be written to it"
            )
        if not self._outputs.writes_files(draft.ref.group_kind):
            stored = self._cluster.commit(draft)
            await self._journal.settled()
            return stored
        lock = self.lock(draft.ref)
        waited = lock.locked()
        async with lock:
            return await self.put(prepare() if waited else draft)

    async def put(self, draft: WriteRequest) -> StoredObject:
        """Write the files of a draft and commit it. The caller holds the lock of the object."""
        first = draft.ref not in self._outputs
        if first:
            self._journal.record(_intended(draft, self._cluster.version), output=True)
            await self._journal.settled()
        try:
            await self._do(self._outputs.writing(draft.ref, draft.document))
            self._outputs.track(draft.ref)
            stored = self._cluster.commit(draft)
        except HomeError as error:
            await self._roll_back(draft.ref, first=first, written=isinstance(error, Conflict))
            raise
        if not first:  # a first write was durable in advance
            await self._journal.settled()
        return stored

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """As the cluster's own, and durable."""
        async with self.lock(seen.ref):
            held = await self._cluster.delete(seen)
        await self._journal.settled()
        return held

    async def remove(self, ref: ObjectRef) -> None:
        """Delete the object of this name, whatever its version; durable."""
        async with self.lock(ref):
            await self._cluster.remove(ref)
        await self._journal.settled()

    async def repair(self, ref: ObjectRef) -> None:
        """Somebody touched the files of this object: mend their modes, and tell those who watch it."""
        async with self.lock(ref):
            if ref not in self._outputs:
                return
            with suppress(StorageUnavailable):  # whoever writes the content is told; the modes have to wait
                await self._do(self._outputs.repairing_modes(ref))
            self._cluster.touched(ref)

    def lock(self, ref: ObjectRef) -> asyncio.Lock:
        """What one write at a time holds."""
        lock = self._locks.get(ref)
        if lock is None:
            lock = self._locks[ref] = asyncio.Lock()
        return lock

    async def _roll_back(self, ref: ObjectRef, *, first: bool, written: bool) -> None:
        """Undo what went ahead of a failed write. A later write leaves drift, which is repaired."""
        standing = await self._cluster.get(ref)
        if not first and standing is not None:
            self._outputs.invalidate(ref)
            return
        if written:
            self._outputs.remove(ref)
        self._outputs.untrack(ref)
        if standing is None:
            self._journal.forget(ref)
        else:
            self._journal.record(standing, output=False)

    async def _do(self, job: Job) -> None:
        if self._hands is not None:
            await self._hands.submit(job)
            return
        (failure,) = self._outputs.work([job])
        if failure is not None:
            raise failure


def _intended(draft: WriteRequest, version: int) -> StoredObject:
    """What the draft will be once it is committed, as far as it can be told in advance."""
    document = draft.document
    metadata = {**document["metadata"], "resourceVersion": str(version + 1)}
    return StoredObject(
        ref=draft.ref,
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        data=encode(without_content({**document, "metadata": metadata})),
    )
