"""Applies manifests to the simulated cluster: at the start on the restored objects, later change by change.

A Secret that a manifest defines stays in memory. Once a controller merges keys into it, it is an output: all
its keys are files from then on. When its manifest changes, the keys that the manifest gave before are
replaced, and the keys that controllers merged stay.

It also restores objects and manifest files from the state file. A manifest file is not parsed again if its
`stat` is the same (device, inode, size, times) and the state file has every object that it defined, with the
same digest: parsing ten thousand manifests would be a third of a restart.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import intern
from typing import Final, NamedTuple

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import kind_of, role_of
from syncret.daemon.homes.contract import (
    HomeError,
    HomeProblem,
    Invalid,
    NotFound,
    RefusalReason,
    StorageUnavailable,
)
from syncret.daemon.homes.filesystem.manifests.folders import ManifestFolders
from syncret.daemon.homes.filesystem.manifests.reader import Manifest
from syncret.daemon.homes.filesystem.manifests.remembered import RememberedFile
from syncret.daemon.homes.filesystem.manifests.snapshot import Snapshot
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.output.writer import OutputWriter
from syncret.daemon.homes.filesystem.state.rows import (
    AppliedManifest,
    FileRecord,
    Record,
    holds_no_value,
    is_file,
    restore_content,
    stored_of,
    unpack,
)
from syncret.daemon.homes.filesystem.state.writer import StateJournal
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.requests import encode


class RestoredState(NamedTuple):
    """Objects to restore (`restore` empties the list), and the content of manifest files."""

    objects: list[tuple[ObjectRef, Record]]
    files: Mapping[str, RememberedFile]


def restored_state(rows: Iterable[tuple[ObjectRef, bytes]]) -> RestoredState:
    """Read the rows of a state file. Raises msgspec.DecodeError for one that none of us wrote."""
    objects: list[tuple[ObjectRef, Record]] = []
    files: dict[str, FileRecord] = {}
    for ref, row in rows:
        if is_file(ref):
            files[ref.name] = msgspec.json.decode(row, type=FileRecord)
        else:
            objects.append((ref, unpack(row)))
    known = {ref: (ref, record) for ref, record in objects} if files else {}
    trusted: dict[str, RememberedFile] = {}
    for file, said in files.items():
        trusted[file] = said.signature, _manifests(intern(file), said, known)
    return RestoredState(objects, trusted)


def _manifests(
    file: str, said: FileRecord, known: Mapping[ObjectRef, tuple[ObjectRef, Record]]
) -> Sequence[Manifest] | None:
    """The manifests of a file; None if an object differs from them, or the state file has not all of it."""
    manifests: list[Manifest] = []
    for name, line, digest in said.objects:
        ref, record = known.get(name, (name, None))
        if record is None or record.content_removed or record.output or record.applied is None:
            return None
        if (record.applied.file, record.applied.digest) != (file, digest):
            return None
        manifests.append(Manifest(ref, file, line, record.applied.digest))
    return manifests


_AT_ONCE: Final = 0.01
"""Seconds for which manifests are applied before the loop may turn; the first may take longer."""


class ManifestApplier:
    """Applies snapshots of the manifests. The digests in the journal show which are applied already."""

    def __init__(
        self, cluster: MemoryCluster, outputs: OutputContent, journal: StateJournal, writer: OutputWriter
    ) -> None:
        self._cluster = cluster
        self._outputs = outputs
        self._journal = journal
        self._writer = writer
        self._version = 0
        self.refused: Collection[ObjectRef] = ()
        """Objects whose manifests were refused when they were applied last."""

    # ---------------------------------------------------------------------------------------------- restoring
    def restore(self, objects: list[tuple[ObjectRef, Record]], snapshot: Snapshot) -> None:
        """Restore objects from the state file, before the first watch: with uid, status and finalizers.

        The list is emptied, one by one, so that not all objects are in memory twice.
        """
        incomplete: list[tuple[ObjectRef, Record]] = []
        while objects:
            ref, record = objects.pop()
            if record.content_removed:
                incomplete.append((ref, record))
            else:
                self._restore_one(ref, record, snapshot)
        self._version = max([self._cluster.version, *(record.version for _, record in incomplete)])
        for ref, record in incomplete:
            self._restore_one(ref, record, snapshot)

    def _restore_one(self, ref: ObjectRef, record: Record, snapshot: Snapshot) -> None:
        data = self._remembered(ref, record, snapshot)
        if data is not None:
            if record.applied is not None:
                self._journal.applied[ref] = record.applied
            self._cluster.restore(stored_of(ref, data))

    def remember(self, folders: ManifestFolders) -> None:
        """Note files that need not be read at the next start, if they have not changed until then.

        Only those all of whose objects are in force as they stand there and hold no value: what is remembered
        of such an object is the whole of it.
        """
        for file, signature, manifests in folders.to_remember():
            applied = self._journal.applied
            in_force = all(
                holds_no_value(one.ref.group_kind)
                and (known := applied.get(one.ref)) is not None
                and (known.file, known.digest) == (file, one.digest)
                for one in manifests
            )
            said = [(one.ref, one.line, one.digest) for one in manifests]
            record = None if signature is None or not in_force else FileRecord(signature, said)
            self._journal.remember_file(file, record)

    def _remembered(self, ref: ObjectRef, record: Record, snapshot: Snapshot) -> bytes | None:
        """The object to restore; None if it cannot be restored, and forgotten if it is gone."""
        if ref in self._journal.forgotten:
            self._journal.forget(ref)
            return None
        recognised = record.look is not None and self._outputs.is_as_left(ref, record.look)
        if recognised or (record.output and self._outputs.exists(ref)):
            return self._outputs.restored(ref, self._written(ref, record))
        if not record.content_removed and not record.output:
            return bytes(record.document)
        manifest = snapshot.manifests.get(ref)
        is_left = record.applied is not None and manifest is None and ref not in snapshot.waiting
        if is_left and role_of(ref[:2]) is None:
            return bytes(record.document)  # a resource with exports: it is deleted, and what it owns with it
        if manifest is None or record.applied is None:
            if record.applied is not None and ref in snapshot.waiting:
                # It cannot be restored without its content; its files are removed when the grace is over.
                self._journal.applied[ref] = msgspec.structs.replace(record.applied, digest="")
            elif record.applied is None or snapshot.is_gone(ref, record.applied.file):
                self._journal.forget(ref)
            return None
        whole = self._refilled(msgspec.json.decode(record.document), manifest, record.applied)
        return None if whole is None else encode(whole)

    def _written(self, ref: ObjectRef, record: Record) -> bytes:
        """The version that the files hold: of two if the process ended while they were being written."""
        written, before = bytes(record.document), bytes(record.before)
        if not before or self._outputs.holds(ref, written):
            return written
        return before if self._outputs.holds(ref, before) else written

    def _refilled(self, document: Document, manifest: Manifest, applied: AppliedManifest) -> Document | None:
        """A manifest's object with its content of now, and with a new version if that changed."""
        given = manifest.document
        if given is None:
            return None
        try:
            whole = restore_content(document, self._cluster.prepare_create(given).document)
        except Invalid:  # reported when it is applied
            return None
        if manifest.digest != applied.digest:
            self._version += 1
            metadata: Document = {**document["metadata"], "resourceVersion": str(self._version)}
            if "generation" in metadata:
                metadata["generation"] += 1
            whole["metadata"] = metadata
        return whole

    # ----------------------------------------------------------------------------------------------- applying
    async def apply(self, snapshot: Snapshot) -> Sequence[HomeProblem]:
        """Apply what changed, delete what is gone; returns the failures, which the next look tries again."""
        problems: list[HomeProblem] = []
        refused: set[ObjectRef] = set()
        loop = asyncio.get_running_loop()
        begin = loop.time()
        for ref, manifest in snapshot.manifests.items():
            if loop.time() > begin + _AT_ONCE:
                await asyncio.sleep(0)
                begin = loop.time()
            try:
                await self._apply_one(ref, manifest)
            except HomeError as error:
                problems += _problems_of(manifest, error)
                if isinstance(error, Invalid):
                    refused.add(ref)
        self.refused = refused
        for ref in self.deleted(snapshot):
            try:
                await self._delete_one(ref)
            except HomeError as error:
                file = self._journal.applied[ref].file
                problems.append(HomeProblem(file, Problem(path="", message=f"{ref}: not deleted: {error}")))
        return problems

    def applied(self, snapshot: Snapshot) -> Collection[Manifest]:
        """The manifests of the snapshot that are applied."""
        known = self._journal.applied
        return [
            manifest
            for ref, manifest in snapshot.manifests.items()
            if manifest.content is not None and ref in known and known[ref].digest == manifest.digest
        ]

    def deleted(self, snapshot: Snapshot) -> Mapping[ObjectRef, str]:
        """Objects that came from manifests and are defined no more, and their files."""
        return gone(self._journal.applied.items(), snapshot)

    @property
    def count(self) -> int:
        """How many objects came from manifests."""
        return len(self._journal.applied)

    async def _apply_one(self, ref: ObjectRef, manifest: Manifest) -> None:
        before = self._journal.applied.get(ref)
        if before is not None and before.digest == manifest.digest:
            if before.file != manifest.file:
                self._journal.applied[ref] = msgspec.structs.replace(before, file=manifest.file)
                await self._record(ref)
            return
        if manifest.content is not None and manifest.content.refused:
            raise Invalid(f"{ref}: its manifest is refused", manifest.content.refused)
        given = manifest.document
        if given is None:  # it was applied, and its object was removed or replaced since
            self._journal.stale.add(manifest.file)
            return
        if not self._outputs.writes_files(ref[:2]):  # nothing is awaited between admission and commit
            await self._put(ref, manifest, given, before)
            return
        async with self._writer.lock(ref):
            await self._put(ref, manifest, given, before)

    async def _put(
        self, ref: ObjectRef, manifest: Manifest, given: Document, before: AppliedManifest | None
    ) -> None:
        admitted = manifest.content is not None and manifest.content.is_admitted
        draft, kind = self._cluster.prepare_apply(given, admitted=admitted), kind_of(ref[:2])
        keys = tuple(draft.document.get("data", ())) if kind is not None and kind.values == "data" else ()
        now = AppliedManifest(file=manifest.file, digest=manifest.digest, keys=keys)
        if ref in self._outputs:
            merged = await self._merged(ref, draft.document, before.keys if before else ())
            draft = self._cluster.prepare_apply(merged)
        self._journal.applied[ref] = now
        try:
            if ref in self._outputs:
                await self._writer.put(draft)
            else:
                self._cluster.commit(draft)
        except HomeError:
            self._restore_applied(ref, before)
            if before is not None:
                await self._record(ref)
            raise
        if not draft.changed:
            await self._record(ref)

    async def _merged(self, ref: ObjectRef, document: Document, given: Collection[str]) -> Document:
        """The manifest's new version with the keys that are there and were not given by its last one."""
        standing = await self._cluster.get(ref)
        data: Document = standing.document.get("data", {}) if standing is not None else {}
        kept = {key: value for key, value in data.items() if key not in given}
        return {**document, "data": {**kept, **document.get("data", {})}}

    async def _record(self, ref: ObjectRef) -> None:
        stored = await self._cluster.get(ref)
        if stored is not None:
            self._journal.saved(stored)

    async def _delete_one(self, ref: ObjectRef) -> None:
        before = self._journal.applied.pop(ref, None)
        if before is None:  # it was deleted before, with its namespace or its owner
            return
        try:
            await self._writer.remove(ref)
        except NotFound:
            self._journal.forget(ref)
        except HomeError:
            self._restore_applied(ref, before)
            raise

    def _restore_applied(self, ref: ObjectRef, before: AppliedManifest | None) -> None:
        if before is None:
            self._journal.applied.pop(ref, None)
        else:
            self._journal.applied[ref] = before


def gone(
    applied: Iterable[tuple[ObjectRef, AppliedManifest | None]], snapshot: Snapshot
) -> Mapping[ObjectRef, str]:
    """Which of the objects that came from manifests are defined no more, and their files."""
    return {ref: each.file for ref, each in applied if each is not None and snapshot.is_gone(ref, each.file)}


def _problems_of(manifest: Manifest, error: HomeError) -> Iterable[HomeProblem]:
    """A refusal as problems of the file: admission's own, or the disk's."""
    found = error.problems if isinstance(error, Invalid) else ()
    problems: Sequence[Problem] = [problem for problem in found if problem.fatal]  # the reader has the rest
    if not problems:
        hint = error.hint if isinstance(error, StorageUnavailable) else ""
        problems = [Problem(path="", message=str(error), hint=hint)]
    reason = RefusalReason.INVALID if isinstance(error, Invalid) else RefusalReason.STORAGE
    return [
        HomeProblem(manifest.file, problem, manifest.ref, reason, manifest.line)
        for problem in manifest.located(problems)
    ]
