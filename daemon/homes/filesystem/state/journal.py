"""The cluster's journal on a host: versions go to the state file, and files go when their object does."""

from collections.abc import Callable, Collection
from typing import TypeAlias

import msgspec

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import StorageUnavailable, StoredObject
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.state.database import StateError
from syncret.daemon.homes.filesystem.state.rows import AppliedManifest, FileRecord, file_ref, pack
from syncret.daemon.homes.filesystem.state.writer import StateWriter

OnRemoved: TypeAlias = Callable[[ObjectRef, Document], None]
"""Is given the name of a written object that went, and what it was."""


class StateJournal:
    """Implements `Journal`. `applied` tells which manifest an object came from; the source keeps it."""

    def __init__(
        self, state: StateWriter | None, outputs: OutputContent, on_removed: OnRemoved | None = None
    ) -> None:
        """Without a state nothing is remembered. `on_removed` hears of written objects that go."""
        self._state = state
        self._outputs = outputs
        self._on_removed = on_removed
        self.applied: dict[ObjectRef, AppliedManifest] = {}
        self.stale: set[str] = set()
        """Manifest files whose objects went although they are still wanted: to be read again."""
        self.forgotten: Collection[ObjectRef] = frozenset()
        """Objects that are never remembered, not even their names: Secrets from credentials."""

    def saved(self, stored: StoredObject) -> None:
        """Remember this version."""
        self.record(stored, output=stored.ref in self._outputs)

    def record(self, stored: StoredObject, *, output: bool) -> None:
        """Remember this version, and whether its content is (or is about to be) in files."""
        if self._state is None or stored.ref in self.forgotten:
            return
        applied, look = self.applied.get(stored.ref), self._outputs.look(stored.ref) if output else None
        self._state.put(stored.ref, pack(stored, applied=applied, output=output, look=look))

    def removed(self, ref: ObjectRef) -> None:
        """Take the files away, then forget the object. Raises TargetUnavailable, and nothing is removed."""
        content = None
        if self._on_removed is not None and self._outputs.was_written(ref):
            content = self._outputs.load(ref)
        if ref in self._outputs:
            self._outputs.remove(ref)
        self.forget(ref)
        if self._on_removed is not None and content is not None:
            self._on_removed(ref, {**_nameplate(ref), **content})

    def forget(self, ref: ObjectRef) -> None:
        """Remember the object no longer; it comes back if its manifest is still there at the next look."""
        applied = self.applied.pop(ref, None)
        if applied is not None:
            self.stale.add(applied.file)
        if self._state is not None:
            self._state.remove(ref)

    def remember_file(self, file: str, record: FileRecord | None) -> None:
        """Remember what a manifest file said, or that it has to be read at the next start."""
        if self._state is None:
            return
        if record is None:
            self._state.remove(file_ref(file))
        else:
            self._state.put(file_ref(file), msgspec.json.encode(record))

    async def settled(self) -> None:
        """Return once everything told so far is on the disk. Raises TargetUnavailable."""
        if self._state is None:
            return
        try:
            await self._state.durable()
        except StateError as error:
            raise StorageUnavailable(str(error), hint=error.hint) from error


def _nameplate(ref: ObjectRef) -> Document:
    """What the folder of a Secret does not say of it."""
    return {"apiVersion": "v1", "kind": ref.kind, "metadata": {"name": ref.name, "namespace": ref.namespace}}
