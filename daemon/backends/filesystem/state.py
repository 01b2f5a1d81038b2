"""What the host home remembers across restarts: one sqlite file, written by one thread.

Writes are gathered: whatever arrives while a commit runs goes into the next one, and only the newest version
of an object is written. What a caller awaited is on the disk (WAL, synchronous=FULL). Secret values have no
place in here: callers put metadata, status and digests.
"""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from syncret.config.meta import ObjectRef

_APPLICATION_ID = 0x73796E63  # "sync": tells our file from anybody else's database

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE objects (
        grp TEXT NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (grp, kind, namespace, name)
    ) WITHOUT ROWID;
    CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    """,
)
"""Version n of the schema is made by the first n scripts; a script that was released is never changed."""

_PUT = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM objects WHERE grp = ? AND kind = ? AND namespace = ? AND name = ?"


class StateError(Exception):
    """The state file cannot be used; nothing in it was changed."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class State:
    """The state file, locked for this process until `aclose`."""

    def __init__(self, path: str) -> None:
        """Open it, and make or migrate it where that is needed. Raises StateError."""
        self.path = str(Path(path).absolute())
        self._database = _open(self.path)
        self._condition = threading.Condition()
        self._pending: dict[ObjectRef, bytes | None] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._closing = False
        self._thread = threading.Thread(target=self._write, name="state-writer", daemon=True)
        self._thread.start()

    def rows(self) -> Iterator[tuple[ObjectRef, bytes]]:
        """Everything that was remembered. To be read before the first write."""
        for group, kind, namespace, name, data in self._database.execute("SELECT * FROM objects"):
            yield ObjectRef(group, kind, namespace, name), data

    def salt(self) -> bytes:
        """Random bytes that belong to this file, made with it: digests in it are worth nothing elsewhere."""
        with self._database:
            self._database.execute("INSERT OR IGNORE INTO facts VALUES ('salt', ?)", (os.urandom(16),))
        salt: bytes = self._database.execute("SELECT value FROM facts WHERE name = 'salt'").fetchone()[0]
        return salt

    def put(self, ref: ObjectRef, data: bytes) -> asyncio.Future[None]:
        """Remember this version. The future resolves once that is durable, or raises StateError."""
        return self._add(ref, data)

    def remove(self, ref: ObjectRef) -> asyncio.Future[None]:
        """Forget the object; the future is as in `put`."""
        return self._add(ref, None)

    async def durable(self) -> None:
        """Wait until everything given so far is on the disk."""
        with self._condition:
            waiter = self._wait()
        await waiter

    async def aclose(self) -> None:
        """Write what is left, and give the file free."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        await asyncio.to_thread(self._thread.join)
        self._database.close()

    def _add(self, ref: ObjectRef, data: bytes | None) -> asyncio.Future[None]:
        with self._condition:
            self._pending[ref] = data
            return self._wait()

    def _wait(self) -> asyncio.Future[None]:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._condition.notify()
        return waiter

    def _write(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiters or self._closing)
                pending, self._pending = self._pending, {}
                waiters, self._waiters = self._waiters, []
                closing = self._closing
            failure = self._commit(pending)
            if failure:  # kept, so that the next commit carries it; what came meanwhile is newer
                with self._condition:
                    self._pending = pending | self._pending
            _resolve(waiters, failure)
            if closing:
                return

    def _commit(self, pending: dict[ObjectRef, bytes | None]) -> StateError | None:
        try:
            with self._database:
                self._database.execute("BEGIN")
                self._database.executemany(
                    _PUT, [(*ref, data) for ref, data in pending.items() if data is not None]
                )
                self._database.executemany(_REMOVE, [ref for ref, data in pending.items() if data is None])
        except sqlite3.Error as error:
            return _refused(self.path, error)
        return None


def _resolve(waiters: list[asyncio.Future[None]], failure: StateError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for waiter in waiters:
        by_loop.setdefault(waiter.get_loop(), []).append(waiter)
    for loop, its in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, its, failure)


def _settle(waiters: list[asyncio.Future[None]], failure: StateError | None) -> None:
    for waiter in waiters:
        if waiter.done():  # whoever waited was cancelled
            continue
        if failure:
            waiter.set_exception(failure)
            waiter.exception()  # seen: a caller that does not wait finds it again in `durable`
        else:
            waiter.set_result(None)


def _open(path: str) -> sqlite3.Connection:
    try:
        Path(path).parent.mkdir(0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StateError(
            f"{path}: the state file cannot be opened: {error.strerror}",
            hint="let the user that syncret runs as write there, or name another file",
        ) from error
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
    try:
        _prepare(database, path)
    except sqlite3.Error as error:
        database.close()
        raise _refused(path, error) from error
    except StateError:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: str) -> None:
    database.execute("PRAGMA locking_mode = EXCLUSIVE")  # held until close: two daemons never share a state
    database.execute("BEGIN EXCLUSIVE")
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    ours = database.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID
    empty = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    database.execute("ROLLBACK")
    if not ours and not empty:
        raise StateError(f"{path}: this database belongs to another program", hint="name another state file")
    if version > len(MIGRATIONS):
        raise StateError(
            f"{path}: the state file was written by a newer version"
            f" (schema {version}, this one knows {len(MIGRATIONS)})",
            hint="run that version, or start with another state file: every secret is then fetched once more",
        )
    if (verdict := database.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise sqlite3.DatabaseError(verdict)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        database.executescript(
            f"BEGIN; {script};"
            f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {number}; COMMIT;"
        )


def _refused(path: str, error: sqlite3.Error) -> StateError:
    match error.sqlite_errorname.split("_")[1] if hasattr(error, "sqlite_errorname") else "CORRUPT":
        case "BUSY" | "LOCKED":
            return StateError(
                f"{path}: another syncret uses this state file",
                hint="stop it (a daemon may be running), or name another state file",
            )
        case "CORRUPT" | "NOTADB":
            return StateError(
                f"{path}: the state file is damaged",
                hint="move it away: every secret is then fetched once more, and no output is deleted",
            )
        case "FULL":
            return StateError(f"{path}: no space is left for the state file", hint="free some space")
        case "READONLY" | "CANTOPEN" | "PERM" | "AUTH":
            return StateError(
                f"{path}: the state file cannot be written",
                hint="let the user that syncret runs as write it and its folder",
            )
        case _:
            return StateError(f"{path}: the state file cannot be used: {error}", hint="check the disk")
