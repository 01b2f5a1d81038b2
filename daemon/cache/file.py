"""The file of the cache: SQLite, locked, mode 0600. A file of another program or key is not changed."""

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from syncret.daemon.cache.box import (
    SALT_SIZE,
    Box,
    Row,
    key_id,
    new_names_key,
    open_names_key,
    seal_names_key,
)
from syncret.daemon.cache.errors import CacheUnusable, Rejected
from syncret.daemon.cache.key import Keys
from syncret.daemon.private_paths import NotPrivate, check_folder, open_private

_APPLICATION_ID: Final = 0x73796E68
_VERSION: Final = 1
_SQLITE_FILES: Final = ("-wal", "-shm", "-journal")
_SCHEMA: Final = (
    """
    CREATE TABLE header (
        key_id BLOB NOT NULL, salt BLOB NOT NULL, names BLOB NOT NULL, seen_max INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE records (
        kind TEXT NOT NULL, id BLOB NOT NULL, store BLOB NOT NULL, confirmed_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL, size INTEGER NOT NULL, key_salt BLOB NOT NULL,
        keyed_digest BLOB NOT NULL, nonce BLOB NOT NULL, box BLOB NOT NULL,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID
    """,
    "CREATE TABLE marks (kind TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_VERSION}",
)
_PUT: Final = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_REMOVE: Final = "DELETE FROM records WHERE kind = ? AND id = ?"
_MARK: Final = "INSERT OR IGNORE INTO marks VALUES (?, ?)"
_UNMARK: Final = "DELETE FROM marks WHERE kind = ? AND id = ?"

_HEADS: Final = "SELECT kind, id, store, confirmed_at, expires_at, size FROM records ORDER BY confirmed_at"

Name: TypeAlias = tuple[str, bytes]
"""Kind and id."""


class Header(NamedTuple):
    """The header of the file."""

    key_id: bytes
    salt: bytes
    names: bytes
    """The key of the names in the file, sealed."""
    seen_max: int
    """The latest time that was ever seen: a clock that is set back makes no record younger."""


class Changes(NamedTuple):
    """Changes that are written in one transaction."""

    records: Mapping[Name, Row | None]
    """None for a record that is removed."""
    marks: Mapping[Name, bool]
    seen_max: int


class CacheFile:
    """The file, locked for this process until `close`."""

    def __init__(self, path: str, keys: Keys, *, now: float, fsync: bool = True) -> None:
        """Open or create it. Raises CacheUnusable; then nothing was changed."""
        self.path = path
        self.rejected = 0
        """Number of records that did not open when the key was changed."""
        self._lock = _locked(path)
        try:
            self._database = _opened(path)
            try:
                self.header = self._prepared(keys, now, fsync=fsync)
                self.box = self._box(keys)
                self._reader = sqlite3.connect(path, isolation_level=None)
            except BaseException:  # closed, and raised again
                self._database.close()
                raise
        except (sqlite3.Error, CacheUnusable) as error:
            os.close(self._lock)
            raise _refused(path, error) from error
        except BaseException:  # as above
            os.close(self._lock)
            raise

    def _prepared(self, keys: Keys, now: float, *, fsync: bool) -> Header:
        database = self._database
        found = _header_of(database, self.path)
        if found is not None and found.key_id not in [key_id(each) for each in keys if each is not None]:
            raise CacheUnusable(
                f"{self.path}: the cache was sealed with another key",
                hint="give that key beside the new one, with -old after its name, or `syncret cache clear`",
            )
        verdict = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA secure_delete = ON")
        database.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
        if found is not None:
            return found
        salt = os.urandom(SALT_SIZE)
        made = Header(key_id(keys.current), salt, new_names_key(keys.current, salt), int(now))
        with database:
            database.execute("BEGIN")
            for statement in _SCHEMA:
                database.execute(statement)
            database.execute("INSERT INTO header VALUES (?, ?, ?, ?)", made)
        return made

    def _box(self, keys: Keys) -> Box:
        """The box that opens the records, which are then all sealed with the current key."""
        header = self.header
        is_former = header.key_id != key_id(keys.current)
        root = keys.former if is_former and keys.former is not None else keys.current
        try:
            names = open_names_key(root, header.salt, header.names)
        except Rejected:
            raise CacheUnusable(
                f"{self.path}: the cache is damaged", hint="`syncret cache clear` removes it"
            ) from None
        box = Box(keys.current, header.salt, names)
        if is_former:
            sealed = seal_names_key(keys.current, header.salt, names)
            self.header = header._replace(key_id=key_id(keys.current), names=sealed)
            with self._database as database:
                database.execute("BEGIN")
                self._seal_anew(Box(root, header.salt, names), box)
                database.execute("UPDATE header SET key_id = ?, names = ?", (self.header.key_id, sealed))
        return box

    def _seal_anew(self, former: Box, current: Box) -> None:
        """Seal each record with the current key; damaged ones are removed."""
        for row in self.rows():
            try:
                content = former.open(row)
            except Rejected:
                self.rejected += 1
                self._database.execute(_REMOVE, (row.kind, row.id))
                continue
            times = (row.confirmed_at, row.expires_at)
            self._database.execute(_PUT, current.seal(row.kind, row.id, row.store, times, content))

    def rows(self) -> list[Row]:
        """All records."""
        return [Row._make(each) for each in self._database.execute("SELECT * FROM records")]

    def heads(self) -> list[Row]:
        """All records without their contents, the one that was confirmed longest ago first."""
        found = self._reader.execute(_HEADS)
        return [Row._make((*each, b"", b"", b"", b"")) for each in found]

    def row(self, name: Name) -> Row | None:
        """One record. It does not wait for a commit that is under way."""
        found = self._reader.execute("SELECT * FROM records WHERE kind = ? AND id = ?", name).fetchone()
        return None if found is None else Row._make(found)

    def marks(self) -> set[Name]:
        """All marks."""
        return set(self._database.execute("SELECT kind, id FROM marks"))

    def commit(self, changes: Changes) -> None:
        """Write the changes in one transaction. Blocking. Raises CacheUnusable."""
        puts = [row for row in changes.records.values() if row is not None]
        removed = [name for name, row in changes.records.items() if row is None]
        try:
            with self._database as database:
                database.execute("BEGIN")
                database.executemany(_PUT, puts)
                database.executemany(_REMOVE, removed)
                database.executemany(_MARK, _named(changes.marks, is_set=True))
                database.executemany(_UNMARK, _named(changes.marks, is_set=False))
                database.execute("UPDATE header SET seen_max = max(seen_max, ?)", (changes.seen_max,))
        except sqlite3.Error as error:
            raise _refused(self.path, error) from error

    def close(self) -> None:
        """Close the file and release the lock."""
        self._reader.close()
        self._database.close()
        os.close(self._lock)


def _named(marks: Mapping[Name, bool], *, is_set: bool) -> Iterable[Name]:
    return [name for name, wanted in marks.items() if wanted is is_set]


def remove_file(path: str) -> bool:
    """Remove the cache of any key; returns whether there was one. Raises CacheUnusable if it is in use."""
    if not Path(path).exists():
        return False
    lock = _locked(path)
    try:
        for each in ("", *_SQLITE_FILES):
            Path(path + each).unlink(missing_ok=True)
    except OSError as error:
        raise CacheUnusable(f"{path}: cannot be removed: {error.strerror}") from error
    finally:
        os.close(lock)
    return True


def _locked(path: str) -> int:
    """An open lock file beside the cache. Raises CacheUnusable."""
    try:
        check_folder(Path(path).parent)
        fd = open_private(f"{path}.lock")
    except NotPrivate as error:
        raise CacheUnusable(f"{path}: {error}", hint=error.hint) from error
    except OSError as error:
        raise CacheUnusable(f"{path}: the cache cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise CacheUnusable(f"{path}: another syncret uses this cache", hint="stop it") from error
    return fd


def _opened(path: str) -> sqlite3.Connection:
    try:
        os.close(open_private(path))
        for each in _SQLITE_FILES:
            with suppress(FileNotFoundError):
                os.close(open_private(f"{path}{each}", create=False))
    except NotPrivate as error:
        raise CacheUnusable(f"{path}: the cache {error}", hint=error.hint) from error
    except OSError as error:
        raise CacheUnusable(f"{path}: the cache cannot be opened: {error.strerror}") from error
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def _header_of(database: sqlite3.Connection, path: str) -> Header | None:
    """The header of a file; None if it is empty. Raises CacheUnusable."""
    if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        return None
    ours = database.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID
    if not ours:
        raise CacheUnusable(f"{path}: this database belongs to another program", hint="move it away")
    if database.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        raise CacheUnusable(
            f"{path}: the cache was written by another version", hint="`syncret cache clear` removes it"
        )
    return Header._make(database.execute("SELECT * FROM header").fetchone())


def _refused(path: str, error: Exception) -> CacheUnusable:
    if isinstance(error, CacheUnusable):
        return error
    name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return CacheUnusable(f"{path}: the cache is damaged", hint="`syncret cache clear` removes it")
    if name.startswith("SQLITE_FULL"):
        return CacheUnusable(f"{path}: no space is left for the cache", hint="free some space")
    return CacheUnusable(f"{path}: the cache cannot be used: {error}", hint="check the disk")
