"""Opens the state file: locks, checks and migrates it, and says what is wrong with it.

A file that is damaged, newer than this program or of another program is refused and left as it is.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import DecodeError

from syncret.config.meta import ObjectRef, shared
from syncret.daemon.homes.contract import HomeUnusable
from syncret.daemon.private_paths import NotPrivate, check_folder, open_private

_APPLICATION_ID = 0x73796E63  # "sync": distinguishes our file from databases of other programs

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

_PAGE = 16384
"""Bytes of a page of a new file. A row of more than a quarter of a page has pages of its own, which costs
twice the work and three times the room: most rows have 1 to 4 kB.
"""

_SQLITE_FILES = ("-wal", "-shm", "-journal")
"""Files that SQLite keeps beside the database, with its mode."""

_LOG = 4 << 20
"""Bytes of the write-ahead log that are worth to be written back."""

_CACHE = 512
"""Kibibytes of pages in memory: rows are written in the order of their names, and read at a start alone."""


class StateError(HomeUnusable):
    """The state file cannot be used; nothing in it was changed."""


class StateContents(NamedTuple):
    """The content of a state file."""

    rows: Sequence[tuple[ObjectRef, bytes]] = ()
    salt: bytes = b""


def read_state(path: str) -> StateContents:
    """Read a state file, without locking or changing it; empty if there is none.

    Raises StateError.
    """
    if not Path(path).exists():
        return StateContents()
    try:
        # A reader would create the files of the write-ahead log, which are missing if no process has it open.
        how = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
        database = sqlite3.connect(f"{Path(path).absolute().as_uri()}?{how}", uri=True, isolation_level=None)
        try:
            _check_version(database, path)
            return StateContents(rows_of(database), salt_of(database))
        finally:
            database.close()
    except sqlite3.Error as error:
        raise refused(path, error) from error


def damaged(path: str | None) -> StateError:
    """The error for a state file that is damaged."""
    message, hint = _DAMAGED
    return StateError(f"{path or 'the state'}: {message}", hint=hint)


@contextmanager
def trusting(path: str | None) -> Generator[None, None, None]:
    """Raise StateError where what was read from the file turns out to be damaged."""
    try:
        yield
    except (DecodeError, ValueError) as error:
        raise damaged(path) from error


def salt_of(database: sqlite3.Connection) -> bytes:
    """Random bytes that were made with the file."""
    salt: bytes = database.execute("SELECT value FROM facts WHERE name = 'salt'").fetchone()[0]
    return salt


def rows_of(database: sqlite3.Connection) -> Sequence[tuple[ObjectRef, bytes]]:
    return [
        (shared(group, kind, namespace, name), data)
        for group, kind, namespace, name, data in database.execute("SELECT * FROM objects")
    ]


def lock_beside(path: str) -> int:
    """An open lock file beside the state: sqlite's own locks would keep readers out, too."""
    try:
        Path(path).parent.mkdir(0o700, parents=True, exist_ok=True)
        check_folder(Path(path).parent)
    except OSError as error:
        raise _not_opened(path, error) from error
    except NotPrivate as error:
        raise StateError(f"{path}: {error}", hint=error.hint) from error
    fd = _open(f"{path}.lock")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if error.errno != errno.EWOULDBLOCK:
            raise _not_opened(path, error) from error
        raise StateError(
            f"{path}: another syncret uses this state file",
            hint="stop it (a daemon may be running), or name another state file",
        ) from error
    return fd


def _not_opened(path: str, error: OSError) -> StateError:
    return StateError(
        f"{path}: the state file cannot be opened: {error.strerror}",
        hint="let the user that syncret runs as write there, or name another file",
    )


def _open(path: str, *, create: bool = True) -> int:
    """Open a file of the state that belongs to us alone. Raises StateError."""
    try:
        return open_private(path, create=create)
    except NotPrivate as error:
        raise StateError(f"{path}: the state file {error}", hint=error.hint) from error
    except OSError as error:
        if not create and isinstance(error, FileNotFoundError):
            raise
        raise _not_opened(path, error) from error


def open_database(path: str, *, fsync: bool) -> sqlite3.Connection:
    os.close(_open(path))
    for beside in _SQLITE_FILES:
        with suppress(FileNotFoundError):
            os.close(_open(f"{path}{beside}", create=False))
    try:
        database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise refused(path, error) from error
    try:
        _prepare(database, path, fsync=fsync)
    except sqlite3.Error as error:
        database.close()
        raise refused(path, error) from error
    except StateError:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: str, *, fsync: bool) -> None:
    version = _check_version(database, path)
    verdict = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)
    database.execute(f"PRAGMA page_size = {_PAGE}")  # passed over where the file has pages already
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(f"PRAGMA cache_size = -{_CACHE}")
    database.execute(f"PRAGMA wal_autocheckpoint = {_LOG // _PAGE}")
    database.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        database.executescript(
            f"BEGIN; {script};"
            f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {number}; COMMIT;"
        )
    database.execute("INSERT OR IGNORE INTO facts VALUES ('salt', ?)", (os.urandom(16),))


def _check_version(database: sqlite3.Connection, path: str) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    ours = database.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID
    empty = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if not ours and not empty:
        raise StateError(f"{path}: this database belongs to another program", hint="name another state file")
    if not (version or empty):
        raise damaged(path)  # tables are made with their version, or not at all
    if version > len(MIGRATIONS):
        raise StateError(
            f"{path}: the state file was written by a newer version"
            f" (schema {version}, this one knows {len(MIGRATIONS)})",
            hint="run that version, or name another file: secrets are then fetched or generated anew",
        )
    return version


def refused(path: str, error: sqlite3.Error) -> StateError:
    name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT").split("_")[1]
    message, hint = _REFUSALS.get(name, (f"the state file cannot be used: {error}", "check the disk"))
    return StateError(f"{path}: {message}", hint=hint)


_DAMAGED = (
    "the state file is damaged",
    "move it away: secrets are then fetched or generated anew, and no output is deleted",
)
_UNWRITABLE = (
    "the state file cannot be written",
    "let the user that syncret runs as write it and its folder",
)
_REFUSALS = {
    "CORRUPT": _DAMAGED,
    "NOTADB": _DAMAGED,
    "BUSY": ("another program uses the state file", "stop it, or name another state file"),
    "FULL": ("no space is left for the state file", "free some space"),
    "READONLY": _UNWRITABLE,
    "CANTOPEN": _UNWRITABLE,
    "PERM": _UNWRITABLE,
}
