"""Keeps what controllers write in files, and nowhere else: the content store of the simulated cluster.

The cluster keeps the metadata of a written object; its content is in the files, and is read from there
whenever the object is read. So controllers observe an edited or deleted file, and repair it.
"""

import binascii
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

import msgspec

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.daemon.core.secret import is_intact
from syncret.daemon.homes.contract import HomeError, HomeProblem, Invalid, StorageUnavailable, StoredObject
from syncret.daemon.homes.filesystem.output.drift import Drift, Fingerprint, Written
from syncret.daemon.homes.filesystem.output.files import ReadFailed
from syncret.daemon.homes.filesystem.output.group_commit import (
    USUAL,
    Batch,
    Job,
    Sizes,
    WriteSteps,
    run_interleaved,
)
from syncret.daemon.homes.filesystem.output.root import OutputRoot
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder
from syncret.daemon.homes.filesystem.output.yaml_file import ManifestTarget
from syncret.daemon.homes.filesystem.state.rows import is_ours, without_content
from syncret.daemon.homes.memory.requests import encode

_SECRET: Final = SECRET.group_kind
_SHOWN: Final = ("name", "namespace", "labels", "annotations")
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class OutputContent:
    """The written objects, by name. Implements `ContentStore`; files are written before the commit."""

    def __init__(self, tree: OutputRoot | None, *, writes: bool = True, sizes: Sizes = USUAL) -> None:
        """If nothing may be written, or there is no tree, all content stays in memory."""
        self._tree = tree
        self._files = sizes.files
        self._writes = writes
        self._secrets = SecretFolder(tree) if tree is not None else None
        self._manifests = ManifestTarget(tree) if tree is not None else None
        self._drift = Drift(tree) if tree is not None else None
        self._refs: set[ObjectRef] = set()
        self._rehearsed: set[ObjectRef] = set()

    @property
    def swaps(self) -> bool:
        """Whether the set of a Secret's files is replaced at once, where anything is written at all."""
        return not self._writes or self._secrets is None or self._secrets.swaps

    def __contains__(self, ref: ObjectRef) -> bool:
        return ref in self._refs

    def was_written(self, ref: ObjectRef) -> bool:
        """Whether there are files of this object, even if this run of the daemon does not write them."""
        return ref in self._refs or ref in self._rehearsed

    def writes_files(self, kind: tuple[str, str]) -> bool:
        """Whether objects of this kind become files when a controller writes them."""
        return self._writes and self._secrets is not None and not is_ours(kind)

    def track(self, ref: ObjectRef) -> None:
        """Note that the content of this object is in files from now on."""
        self._refs.add(ref)

    def untrack(self, ref: ObjectRef) -> None:
        """Note that the content of this object is not, or no longer, in files."""
        self._refs.discard(ref)
        if self._drift is not None:
            self._drift.forget(ref)

    def exists(self, ref: ObjectRef) -> bool:
        """Whether there are files for this object; also true if they cannot be examined."""
        if self._secrets is None or self._manifests is None:
            return False
        try:
            return (self._secrets if ref.group_kind == _SECRET else self._manifests).exists(ref)
        except StorageUnavailable:  # a write reports it
            return True

    def load(self, ref: ObjectRef) -> Document | None:
        """The content that the files hold: some members of the document; None where there are no files."""
        if self._secrets is None or self._manifests is None:
            return None
        if ref.group_kind != _SECRET:
            document = self._manifests.load(ref)
            self._note_first(ref)
            return document
        data = self._secrets.load(ref)
        self._note_first(ref, data or ())
        if data is None:
            return None
        return {"data": {key: b64encode(data[key]).decode() for key in sorted(data)}} if data else {}

    def work(self, jobs: Sequence[Job]) -> list[HomeError | None]:
        """Do jobs of `writing` and `repairing_modes`; returns the error of each, or None. Blocking."""
        if self._tree is None:
            return [None] * len(jobs)
        with Batch(self._tree, self._files) as batch:
            return run_interleaved([job(batch) for job in jobs])

    def writing(self, ref: ObjectRef, document: Document) -> Job:
        """Make the files hold the content of this document. Raises Invalid and StorageUnavailable."""
        return partial(self._write, ref, document)

    def repairing_modes(self, ref: ObjectRef) -> Job:
        """Repair the modes and owners of files that were changed from outside, whatever they hold now.

        Raises StorageUnavailable.
        """
        return partial(self._settle, ref)

    def _write(self, ref: ObjectRef, document: Document, batch: Batch) -> WriteSteps[None]:
        if self._secrets is None or self._manifests is None:
            return
        if ref.group_kind == _SECRET:
            values = _values(ref, document)
            written = yield from self._secrets.write(ref, values, batch)
            self._note(ref, written, matches_hash=is_intact(document, values))
            return
        metadata = {key: document["metadata"][key] for key in _SHOWN if key in document["metadata"]}
        content = {key: value for key, value in document.items() if key != "status"}
        encode(content)  # refuses values that are not JSON, which YAML would take
        self._note(ref, self._manifests.write(ref, {**content, "metadata": metadata}))

    def _settle(self, ref: ObjectRef, batch: Batch) -> WriteSteps[None]:
        if self._manifests is None or self._drift is None:
            return
        content = self.load(ref)
        if content is None:
            self._drift.record_as_found(ref, [""])
        elif ref.group_kind == _SECRET:
            yield from self._write(ref, content, batch)
        else:
            self._note(ref, self._manifests.write(ref, content))

    def drifted(self) -> Sequence[ObjectRef]:
        """Written objects whose files have changed since this process wrote them, or read them first.

        Blocking. Raises StorageUnavailable if the output folder was replaced by something else.
        """
        if self._tree is None or self._drift is None:
            return []
        self._tree.reopen_if_replaced()
        self._tree.remove_leftovers()
        return self._drift.found()

    @property
    def keeps_sets(self) -> bool:
        """Whether there are replaced sets of files to remove."""
        return self._tree is not None and self._tree.keeps_sets

    def remove_sets(self) -> None:
        """Remove replaced sets of files that were kept for long enough. Blocking."""
        if self._tree is not None:
            self._tree.remove_sets()

    def leftovers(self) -> Sequence[HomeProblem]:
        """Leftovers of earlier runs in the output folder that cannot be removed."""
        return () if self._tree is None else self._tree.leftovers()

    def fingerprint(self, ref: ObjectRef) -> Fingerprint | None:
        """The fingerprint of a Secret's files; None unless their data matches the data-hash."""
        found = self._drift.fingerprint(ref) if self._drift is not None else None
        return found if found is not None and found.matches_hash else None

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """Whether the files of a Secret are as they were written, with the data that its data-hash names."""
        return self._drift is not None and self._drift.is_unchanged(ref)

    def invalidate(self, ref: ObjectRef) -> None:
        """Note that a commit failed after its files were written: they may not match the data-hash."""
        if self._drift is not None:
            self._drift.invalidate(ref)

    def holds(self, ref: ObjectRef, version: bytes) -> bool:
        """Whether the files of a Secret hold the data that the data-hash of this version names."""
        if self._secrets is None or ref.group_kind != _SECRET:
            return False
        try:
            data = self._secrets.load(ref)
        except StorageUnavailable:
            return False
        return data is not None and is_intact(msgspec.json.decode(version), data)

    def is_as_left(self, ref: ObjectRef, left: Fingerprint) -> bool:
        """Whether files are unchanged since an earlier run of the daemon: then they need not be read."""
        return (
            self._drift is not None and self.writes_files(ref.group_kind) and self._drift.restore(ref, left)
        )

    def restored(self, ref: ObjectRef, sealed: bytes) -> bytes | None:
        """An object from the state file whose content is in files, as the cluster is to hold it.

        None if the files cannot be read.
        """
        if self.writes_files(ref.group_kind):
            self.track(ref)
            return sealed
        self._rehearsed.add(ref)
        document: Document = msgspec.json.decode(sealed)
        try:
            return _ENCODER.encode({**(self.load(ref) or {}), **document})
        except StorageUnavailable:
            return None

    def remove(self, ref: ObjectRef) -> None:
        """Take the files away. Raises StorageUnavailable."""
        if self._secrets is None or self._manifests is None:
            return
        if ref.group_kind == _SECRET:
            self._secrets.remove(ref)
        else:
            self._manifests.remove(ref)
        self.untrack(ref)

    def strip(self, ref: ObjectRef, document: Document) -> Document:
        """The document without what is in the files."""
        return without_content(document) if ref in self._refs else document

    def fill(self, stored: StoredObject) -> StoredObject:
        """The version with the content of its files; without, if they are gone or another user's.

        A write then reports what is wrong with them. Raises ReadFailed.
        """
        if stored.ref not in self._refs:
            return stored
        try:
            content = self.load(stored.ref)
        except ReadFailed:
            raise
        except StorageUnavailable:
            return stored
        if not content:
            return stored
        return msgspec.structs.replace(stored, data=_ENCODER.encode({**content, **stored.document}))

    def _note_first(self, ref: ObjectRef, keys: Iterable[str] = ()) -> None:
        """Take the state in which files of an earlier run are found first as the intended one."""
        if self._drift is not None and ref in self._refs and ref not in self._drift:
            self._drift.record_as_found(ref, ["", *keys])

    def _note(self, ref: ObjectRef, written: Written, *, matches_hash: bool = False) -> None:
        if self._drift is not None:
            self._drift.note(ref, written.fingerprints, matches_hash=matches_hash)


def _values(ref: ObjectRef, document: Document) -> dict[str, bytes]:
    try:
        return {
            key: binascii.a2b_base64(value, strict_mode=True)
            for key, value in document.get("data", {}).items()
        }
    except (binascii.Error, TypeError, ValueError):
        raise Invalid(f"{ref}: a value in data is not base64") from None
