"""The records and marks of the cache in memory; changes are written to its file later, together."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from syncret.config.settings import Cache
from syncret.daemon.cache.box import LASTS, Box, Row
from syncret.daemon.cache.errors import CacheUnusable, Rejected
from syncret.daemon.cache.file import CacheFile, Changes, Name

OUTPUT: Final = "output"
READ: Final = "read"
"""Kinds of records: a Secret as it was delivered, and what a store answered to one need."""

_COMMIT_EVERY: Final = 300.0
"""Seconds after which the time is written, even without changes, and old records are dropped."""
_GATHER: Final = 0.2
"""Seconds for which changes are collected before they are written."""
_LEAST_GAP: Final = 60.0
"""The least seconds between two writes of one record that was only confirmed."""

log = structlog.get_logger()


class Entry:
    """The attributes of one record that are known without opening it."""

    __slots__ = ("confirmed_at", "digest", "expires_at", "size", "store", "written_at")

    def __init__(self, row: Row, digest: str | None = None) -> None:
        self.confirmed_at = self.written_at = float(row.confirmed_at)
        self.expires_at = row.expires_at
        self.size = row.size
        self.store = row.store
        self.digest = digest
        """Of an output: the digest of its data, once that is known."""

    @property
    def lasts(self) -> bool:
        """Whether it has no refresh interval, and so no age."""
        return self.expires_at == LASTS


class Records:
    """All records. Call `run` in a task, and `stop` at the end."""

    def __init__(
        self, file: CacheFile, settings: Cache, clock: Callable[[], float], passed: Callable[[], float]
    ) -> None:
        """`clock` is the system clock; `passed` is a monotonic clock."""
        self._file = file
        self._settings = settings
        self._clock = clock
        self._passed = passed
        self._begin, self._latest = passed(), float(file.header.seen_max)
        self._entries: dict[Name, Entry] = {}
        self._rows: dict[Name, Row | None] = {}
        """Records that are still to be written; None if one was dropped."""
        self._marks = file.marks()
        self._changed_marks: dict[Name, bool] = {}
        self._next_look = self._begin + _COMMIT_EVERY
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self.size = 0
        self.problem = ""
        """Why the file cannot be written now; empty if it can."""
        self.rejected = file.rejected
        """How many records did not open."""
        for row in file.heads():
            self._enter((row.kind, row.id), Entry(row))
        self._drop_old()

    @property
    def box(self) -> Box:
        """The keys of the file."""
        return self._file.box

    def __len__(self) -> int:
        return len(self._entries)

    def now(self) -> float:
        """The time, which never goes back, even if the system clock is set back."""
        return max(self._clock(), self._latest + (self._passed() - self._begin))

    def get(self, name: Name) -> Entry | None:
        """The entry of a record; None if there is none."""
        return self._entries.get(name)

    def names(self) -> list[Name]:
        """The names of all records."""
        return list(self._entries)

    def oldest(self) -> float | None:
        """When the oldest output that has an age was confirmed."""
        outputs = (entry for name, entry in self._entries.items() if name[0] == OUTPUT)
        return min((each.confirmed_at for each in outputs if not each.lasts), default=None)

    def is_past(self, entry: Entry) -> bool:
        """Whether it is too old to be used."""
        age, limit = self.now() - entry.confirmed_at, self._settings.no_stale_after
        return not entry.lasts and (age > self._settings.max_age or 0 < limit < age)

    def put(self, name: Name, content: bytes, store: bytes = b"", digest: str | None = None) -> None:
        """Keep a value that is confirmed now."""
        row = self.box.seal(*name, store, (int(self.now()), 0), content)
        self._enter(name, Entry(row, digest))
        self._write(name, row)
        self._shrink()

    def confirm(self, name: Name, at: float, interval: float) -> None:
        """Note when it was confirmed; it is not written each time. `interval`: 0 if it has no age."""
        entry = self._entries.get(name)
        if entry is None:
            return
        expires_at = 0 if interval > 0 else LASTS
        entry.confirmed_at = at
        gap = max(_LEAST_GAP, interval / 4)
        if abs(at - entry.written_at) < gap and entry.expires_at == expires_at:
            return
        content = self.opened(name)
        if content is not None:
            row = self.box.seal(*name, entry.store, (int(at), expires_at), content)
            entry.written_at, entry.expires_at = float(row.confirmed_at), expires_at
            self._write(name, row)

    def opened(self, name: Name) -> bytes | None:
        """The content of a record; one that does not open is dropped and counted."""
        row = self._rows.get(name) or self._file.row(name)
        if row is None or name not in self._entries:
            return None
        try:
            return self.box.open(row)
        except Rejected:
            self.rejected += 1
            self.drop(name)
            return None

    def drop(self, name: Name) -> None:
        """Remove a record."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self.size -= entry.size
            self._write(name, None)

    def has_mark(self, kind: str, name: bytes) -> bool:
        """Whether a name has a mark."""
        return (kind, name) in self._marks

    def mark(self, kind: str, name: bytes, *, is_set: bool) -> None:
        """Set or clear a mark."""
        mark = kind, name
        if (mark in self._marks) is not is_set:
            (self._marks.add if is_set else self._marks.discard)(mark)
            self._changed_marks[mark] = is_set
            self._wake.set()

    def _enter(self, name: Name, entry: Entry) -> None:
        before = self._entries.pop(name, None)
        self.size += entry.size - (0 if before is None else before.size)
        self._entries[name] = entry

    def _write(self, name: Name, row: Row | None) -> None:
        self._rows[name] = row
        self._wake.set()

    def _shrink(self) -> None:
        """Drop the oldest records if there are too many, down to 15/16 of the limits.

        Records without an age are dropped last: no refresh would restore them.
        """
        most, entries = self._settings.max_bytes, self._settings.max_entries
        if self.size <= most and len(self._entries) <= entries:
            return
        for name in sorted(self._entries, key=self._drop_order):
            if len(self._entries) <= entries * 15 // 16 and self.size <= most * 15 // 16:
                return
            self.drop(name)

    def _drop_order(self, name: Name) -> tuple[bool, float]:
        entry = self._entries[name]
        return entry.lasts, entry.confirmed_at

    def _drop_old(self) -> None:
        """Drop records that are too old to be used; an output only if it is older than `maxAge`.

        Until then its ExternalSecret withdraws it, and what was made of it.
        """
        limit = self.now() - self._settings.max_age
        for name, entry in list(self._entries.items()):
            if not entry.lasts and (entry.confirmed_at < limit or (name[0] == READ and self.is_past(entry))):
                self.drop(name)

    # ---------------------------------------------------------------------------------------------- writing
    async def run(self) -> None:
        """Write changes until `stop` is called; then close the file."""
        try:
            while not self._stopping.is_set():
                await self._turn()
            await self.commit()
        finally:
            self._file.close()

    def stop(self) -> None:
        """End `run` once the last changes are written."""
        self._stopping.set()
        self._wake.set()

    async def _turn(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_COMMIT_EVERY):
                await self._wake.wait()
        if self._passed() >= self._next_look:
            self._next_look = self._passed() + _COMMIT_EVERY
            self._drop_old()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GATHER):
                await self._stopping.wait()
        await self.commit()

    async def commit(self) -> None:
        """Write the changes so far."""
        self._wake.clear()
        changes = Changes(dict(self._rows), dict(self._changed_marks), int(self.now()))
        try:
            await asyncio.to_thread(self._file.commit, changes)
        except CacheUnusable as error:
            self._not_written(error, changes)
        else:
            if self.problem:
                log.info("the offline cache is written again")
            self.problem = ""
        self._settle(changes)

    def _settle(self, changes: Changes) -> None:
        """Forget the changes that were written, except those that changed again meanwhile."""
        for name, row in changes.records.items():
            if self._rows.get(name) is row:
                del self._rows[name]
        for mark, is_set in changes.marks.items():
            if self._changed_marks.get(mark) is is_set:
                del self._changed_marks[mark]

    def _not_written(self, error: CacheUnusable, changes: Changes) -> None:
        """Drop the records that could not be written; each is kept again once it is confirmed again."""
        if not self.problem:
            log.log(logging.WARNING, error.message, hint=error.hint)
        self.problem = error.message
        for name, row in changes.records.items():
            entry = self._entries.get(name)
            if row is not None and entry is not None:
                self.size -= entry.size
                del self._entries[name]
