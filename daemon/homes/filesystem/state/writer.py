"""The journal of the host home: its state across restarts, in one SQLite file that one thread writes.

Writes are gathered. What is passed in between two awaits (an owner that is removed, and what it owned) is
committed together or not at all; what arrives while a commit runs goes into the next one, and only the newest
version of an object is written. What a caller awaited is on the disk (WAL, synchronous=FULL). Secret values
do not belong here: callers put metadata, status and digests.
"""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeAlias

import msgspec

from syncret.config.errors import Problem, Severity
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.files.syscalls import identity_of
from syncret.daemon.homes.contract import StorageUnavailable, StoredObject
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.state.database import (
    StateContents,
    StateError,
    lock_beside,
    open_database,
    refused,
    rows_of,
    salt_of,
)
from syncret.daemon.homes.filesystem.state.rows import AppliedManifest, FileRecord, file_ref, pack

_PUT = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM objects WHERE grp = ? AND kind = ? AND namespace = ? AND name = ?"


class StateWriter:
    """The state file, locked for this process until `aclose`."""

    def __init__(self, path: str, *, fsync: bool = True) -> None:
        """Open it, and make or migrate it where that is needed. Raises StateError.

        Without `fsync` what was awaited survives the process (and `kill -9`), but not a power cut.
        """
        self.path = str(Path(path).absolute())
        self._lock_file = lock_beside(self.path)
        try:
            self._database = open_database(self.path, fsync=fsync)
        except StateError:
            os.close(self._lock_file)
            raise
        self._identity = identity_of(Path(self.path).stat())
        self._condition = threading.Condition()
        self._gathered: dict[ObjectRef, bytes | None] = {}
        self._gathered_waiters: list[asyncio.Future[None]] = []
        self._scheduled = False
        self._pending: dict[ObjectRef, bytes | None] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._due = False
        self._committing = False
        self._closing = False
        self._failure: StateError | None = None
        self._thread = threading.Thread(target=self._write, name="state-writer", daemon=True)
        self._thread.start()

    def remembered(self) -> StateContents:
        """Everything that was written. To be read before the first write."""
        return StateContents(rows_of(self._database), salt_of(self._database))

    def check(self) -> Problem | None:
        """Raise StateError if the file was removed or replaced: what is written now would be lost.

        Returns the problem if that cannot be checked; the file is open, and is still written.
        """
        try:
            identity = identity_of(Path(self.path).stat())
        except (FileNotFoundError, NotADirectoryError):
            identity = None
        except OSError as error:
            return Problem(
                path="",
                message=f"the state file cannot be looked at: {error.strerror}",
                hint="let the user that syncret runs as open it and its folder: the next start has to",
                severity=Severity.WARNING,
            )
        if identity != self._identity:
            raise StateError(
                f"{self.path}: the state file was removed or replaced while it was in use",
                hint="start again: a missing one is made anew, and secrets are fetched or generated anew",
            )
        return None

    @property
    def is_failing(self) -> bool:
        """Whether the last commit failed, so that what was given waits for the next one."""
        return self._failure is not None

    def put(self, ref: ObjectRef, data: bytes) -> None:
        """Remember this version instead of an older one."""
        self._gathered[ref] = data
        self._schedule()

    def remove(self, ref: ObjectRef) -> None:
        """Forget the object."""
        self._gathered[ref] = None
        self._schedule()

    def durable(self) -> asyncio.Future[None]:
        """Done once everything given so far is on the disk.

        Raises StorageUnavailable if that fails; the changes are kept, and the next call tries again.
        """
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._gathered or self._under_way():
            self._gathered_waiters.append(waiter)
            self._schedule()
        else:
            waiter.set_result(None)
        return waiter

    async def aclose(self) -> None:
        """Write what is left, and release the file. Raises StateError if something was not written."""
        self._closing = True
        self._hand_over()
        await asyncio.to_thread(self._thread.join)
        self._database.close()
        os.close(self._lock_file)
        if self._failure is not None:
            raise self._failure

    def _under_way(self) -> bool:
        with self._condition:
            return bool(self._pending) or self._committing

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._hand_over)

    def _hand_over(self) -> None:
        """Give the thread what was gathered since the loop last turned, all at once."""
        self._scheduled = False
        with self._condition:
            self._pending |= self._gathered
            self._waiters += self._gathered_waiters
            self._due = True
            self._condition.notify()
        self._gathered, self._gathered_waiters = {}, []

    def _write(self) -> None:
        closing = False
        while not closing:
            with self._condition:
                self._condition.wait_for(lambda: self._due)
                self._due = False
                pending, self._pending = self._pending, {}
                waiters, self._waiters = self._waiters, []
                closing = self._closing
                self._committing = True
            self._failure = self._commit(pending)
            with self._condition:
                self._committing = False
                if self._failure is not None:  # the next commit has it, unless a newer version came meanwhile
                    self._pending = pending | self._pending
            _resolve(waiters, self._failure)

    def _commit(self, pending: dict[ObjectRef, bytes | None]) -> StateError | None:
        if not pending:
            return None
        puts = [(*ref, data) for ref, data in pending.items() if data is not None]
        removals = [ref for ref, data in pending.items() if data is None]
        try:
            with self._database:
                self._database.execute("BEGIN")
                self._database.executemany(_PUT, puts)
                self._database.executemany(_REMOVE, removals)
        except sqlite3.Error as error:
            return refused(self.path, error)
        return None


def _resolve(waiters: list[asyncio.Future[None]], failure: StateError | None) -> None:
    for loop in {waiter.get_loop() for waiter in waiters}:
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, [one for one in waiters if one.get_loop() is loop], failure)


def _settle(waiters: list[asyncio.Future[None]], failure: StateError | None) -> None:
    for waiter in waiters:
        if waiter.done():  # its caller was cancelled
            continue
        if failure:
            waiter.set_exception(StorageUnavailable(str(failure), hint=failure.hint))
        else:
            waiter.set_result(None)


OnRemoved: TypeAlias = Callable[[ObjectRef, Document], None]
"""Called with the name of a written object that was removed, and its last version."""


OnDeleted: TypeAlias = Callable[[ObjectRef], None]
"""Called with the name of an object that was removed, of any kind."""


class StateJournal:
    """Implements `Journal`. `applied` has the manifest that an object came from; the source keeps it."""

    def __init__(
        self,
        state: StateWriter | None,
        outputs: OutputContent,
        on_removed: OnRemoved | None = None,
        on_deleted: OnDeleted | None = None,
    ) -> None:
        """Without a state nothing is remembered.

        `on_removed` is called with written objects that are removed, `on_deleted` with all that are.
        """
        self._state = state
        self._outputs = outputs
        self._on_removed = on_removed
        self._on_deleted = on_deleted
        self.applied: dict[ObjectRef, AppliedManifest] = {}
        self.stale: set[str] = set()
        """Manifest files to be read again: their objects were removed although they still define them."""
        self.forgotten: Collection[ObjectRef] = frozenset()
        """Objects that the state file never has, not even their names: Secrets from systemd credentials."""

    def saved(self, stored: StoredObject) -> None:
        """Remember this version."""
        self.record(stored, output=stored.ref in self._outputs)

    def record(self, stored: StoredObject, *, output: bool) -> None:
        """Remember this version, and whether its content is (or is about to be) in files."""
        if self._state is None or stored.ref in self.forgotten:
            return
        left = self._outputs.fingerprint(stored.ref) if output else None
        applied = self.applied.get(stored.ref)
        self._state.put(stored.ref, pack(stored, applied=applied, output=output, look=left))

    async def intend(self, stored: StoredObject, before: StoredObject | None) -> None:
        """Remember durably a version whose files are about to be written in the place of those of `before`.

        Raises StorageUnavailable: then they must not be, for the next start would not know of them.
        """
        if self._state is None or stored.ref in self.forgotten:
            return
        applied = self.applied.get(stored.ref)
        self._state.put(stored.ref, pack(stored, applied=applied, output=True, before=before))
        await self.settled()

    def removed(self, ref: ObjectRef) -> None:
        """Take the files away, then forget the object. Raises StorageUnavailable, and nothing is removed."""
        content = None
        if self._on_removed is not None and self._outputs.was_written(ref):
            content = self._outputs.load(ref)
        if ref in self._outputs:
            self._outputs.remove(ref)
        self.forget(ref)
        if self._on_removed is not None and content is not None:
            self._on_removed(ref, {**_nameplate(ref), **content})
        if self._on_deleted is not None:
            self._on_deleted(ref)

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

    @property
    def is_failing(self) -> bool:
        """Whether the last commit failed: the next one, for which `settled` asks, tries it again."""
        return self._state is not None and self._state.is_failing

    def settled(self) -> asyncio.Future[None]:
        """Done once everything recorded so far is on the disk. Raises StorageUnavailable."""
        if self._state is not None:
            return self._state.durable()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


def _nameplate(ref: ObjectRef) -> Document:
    """The members of a Secret's document that identify it."""
    return {"apiVersion": "v1", "kind": ref.kind, "metadata": {"name": ref.name, "namespace": ref.namespace}}
