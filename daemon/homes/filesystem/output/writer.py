"""Carries out the writes of controllers: their files are written between admission and commit.

The order makes a crash or a full disk harmless. First the state file records durably what the files will be,
then they are written, then the cluster shows the new version. So the next start knows of every file that was
written and whether it is complete, and drops an object whose files were never written; and no file is written
that cannot be recorded.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from weakref import WeakValueDictionary

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeError, Invalid, NotDurable, StorageUnavailable, StoredObject
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.output.group_commit import BatchExecutor, Job, until
from syncret.daemon.homes.filesystem.output.leftovers import KEPT_FOR
from syncret.daemon.homes.filesystem.state.rows import without_content
from syncret.daemon.homes.filesystem.state.writer import StateJournal
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.requests import WriteRequest, encode

Made = TypeVar("Made", StoredObject, StoredObject | None)


class OutputWriter:
    """Writes objects of the cluster and their files, one write at a time for each object."""

    def __init__(
        self,
        cluster: MemoryCluster,
        outputs: OutputContent,
        journal: StateJournal,
        executor: BatchExecutor[Job] | None,
    ) -> None:
        """`executor` writes the files in threads, as writes wait for the disk; None: in the event loop."""
        self._cluster = cluster
        self._outputs = outputs
        self._journal = journal
        self._executor = executor
        self._locks: WeakValueDictionary[ObjectRef, asyncio.Lock] = WeakValueDictionary()
        self._replaced = asyncio.Event()

    async def write(self, prepare: Callable[[], WriteRequest]) -> StoredObject:
        """Make one write of a controller, which `prepare` validates; its content is put into files."""
        draft = prepare()
        if draft.ref in self._journal.forgotten:
            raise Invalid(
                f"{draft.ref}: this Secret comes from a systemd credential; nothing can be written to it"
            )
        if not self._outputs.writes_files(draft.ref[:2]):
            return await self.durable(self._cluster.commit(draft))
        lock = self.lock(draft.ref)
        waited = lock.locked()
        async with lock:
            return await self.put(prepare() if waited else draft)

    async def put(self, draft: WriteRequest) -> StoredObject:
        """Write the files of a draft and commit it. The caller holds the lock of the object."""
        first = draft.ref not in self._outputs
        intended = written = False
        try:
            if first or draft.changed:
                before = None if first else draft.before
                await self._journal.intend(_intended(draft, self._cluster.version), before)
            intended = True
            await self._do(self._outputs.writing(draft.ref, draft.document))
            written = True
            self._outputs.track(draft.ref)
            return self._cluster.commit(draft)
        except HomeError:
            if intended and not first:
                self._outputs.invalidate(draft.ref)  # its files may hold other data than it names
            await self._roll_back(draft.ref, first=first, written=written)
            raise

    async def durable(self, made: Made) -> Made:
        """Wait until a write is on the disk, and return its result. Raises NotDurable."""
        try:
            await self._journal.settled()
        except StorageUnavailable as error:
            raise NotDurable(str(error), made, hint=error.hint) from error
        return made

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """As the cluster's own, and durable."""
        async with self.lock(seen.ref):
            held = await self._cluster.delete(seen)
        return await self.durable(held)

    async def remove(self, ref: ObjectRef) -> None:
        """Delete the object of this name, whatever its version; durable."""
        async with self.lock(ref):
            await self._cluster.remove(ref)
        await self._journal.settled()

    async def repair(self, ref: ObjectRef) -> None:
        """Repair the modes of an object whose files were changed from outside, and announce the drift."""
        async with self.lock(ref):
            if ref not in self._outputs:
                return
            with suppress(StorageUnavailable):  # a write of the content reports it; the modes have to wait
                await self._do(self._outputs.repairing_modes(ref))
            self._cluster.touched(ref)

    async def remove_replaced_sets(self) -> None:
        """Remove sets of files that were replaced, a moment later. Runs until cancelled."""
        while True:
            await self._replaced.wait()
            self._replaced.clear()
            await asyncio.sleep(KEPT_FOR)
            await asyncio.to_thread(self._outputs.remove_sets)

    def lock(self, ref: ObjectRef) -> asyncio.Lock:
        """The lock of an object, for one write at a time."""
        lock = self._locks.get(ref)
        if lock is None:
            lock = self._locks[ref] = asyncio.Lock()
        return lock

    async def _roll_back(self, ref: ObjectRef, *, first: bool, written: bool) -> None:
        """Undo the record of a failed write. If its files are written later, that is repaired as drift."""
        standing = await self._cluster.get(ref)
        if not first and standing is not None:
            self._journal.saved(standing)
            return
        if written:
            self._outputs.remove(ref)
        self._outputs.untrack(ref)
        if standing is None:
            self._journal.forget(ref)
        else:
            self._journal.record(standing, output=False)

    async def _do(self, job: Job) -> None:
        try:
            if self._executor is not None:
                stop = threading.Event()
                await self._executor.submit(until(stop, job), stop.set)
                return
            (failure,) = self._outputs.work([job])
            if failure is not None:
                raise failure
        finally:
            if self._outputs.keeps_sets:
                self._replaced.set()


def _intended(draft: WriteRequest, version: int) -> StoredObject:
    """The version that the commit of the draft will make, as far as it is known in advance."""
    document = draft.document
    metadata = {**document["metadata"], "resourceVersion": str(version + 1)}
    return StoredObject(
        ref=draft.ref,
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        data=encode(without_content({**document, "metadata": metadata})),
    )
