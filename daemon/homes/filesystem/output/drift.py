"""Detects changes of written files from outside: edits, removals, changed modes or owners.

Each write notes the fingerprint of its files: inodes, sizes, times, modes and owners, taken before the files
get their names. It is compared from time to time, with one `stat` for each file and folder; no content is
read. The state file keeps it, so that after a restart the files of an unchanged Secret need not be read.

The time of the last status change is not part of it: our own hard links and swaps of folders change it.
"""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.filesystem.output.names import path_of
from syncret.daemon.homes.filesystem.output.root import OutputRoot

StatFingerprint: TypeAlias = tuple[int, ...]


class Written(NamedTuple):
    """One write: whether it changed anything, and the fingerprints of its files before others saw them.

    The name of the written folder or file itself is "".
    """

    changed: bool
    fingerprints: Mapping[str, StatFingerprint]


def stat_fingerprint(status: os.stat_result) -> StatFingerprint:
    """The parts of the `stat` of a file or folder that change when it is edited, replaced or chmodded."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_uid,
        status.st_gid,
        status.st_size,
        status.st_mtime_ns,
    )


class Fingerprint(NamedTuple):
    """The fingerprint of the files of an object: their names below its path ("": itself), and a digest.

    `digest` is None if modes or owners are wrong. `matches_hash`: their data is that of the data-hash.
    """

    names: tuple[str, ...]
    digest: int | None
    matches_hash: bool = False


class Drift:
    """The fingerprint of each written object. Safe to use from several threads."""

    def __init__(self, tree: OutputRoot) -> None:
        self._tree = tree
        self._noted: dict[ObjectRef, Fingerprint] = {}
        wanted = tree.settings
        self._wanted = (
            wanted.folder_mode,
            wanted.file_mode,
            -1 if wanted.uid is None else wanted.uid,
            -1 if wanted.gid is None else wanted.gid,
        )

    def __contains__(self, ref: ObjectRef) -> bool:
        return ref in self._noted

    def fingerprint(self, ref: ObjectRef) -> Fingerprint | None:
        """The fingerprint of the object as it was noted last."""
        return self._noted.get(ref)

    def note(self, ref: ObjectRef, files: Mapping[str, StatFingerprint], *, matches_hash: bool) -> None:
        """Note the fingerprints of an object's files by name; `matches_hash`: they match the data-hash."""
        self._noted[ref] = Fingerprint(_held(tuple(files)), self._digest(list(files.values())), matches_hash)

    def record_as_found(self, ref: ObjectRef, names: Collection[str]) -> None:
        """Note the object as it is found; if modes or owners are wrong, it counts as changed."""
        found = self._statuses(ref, names)
        seen = self._seen(found) if all(map(self._is_owned, found)) else None
        self._noted[ref] = Fingerprint(_held(tuple(names)), seen)

    def restore(self, ref: ObjectRef, left: Fingerprint) -> bool:
        """Take over a fingerprint from the state file, if the files and the settings are unchanged."""
        same = self._is_as(ref, left)
        if same:
            self._noted[ref] = left._replace(names=_held(left.names))
        return same

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """Whether the files matched the data-hash when they were noted, and are unchanged since."""
        noted = self._noted.get(ref)
        return noted is not None and noted.matches_hash and self._is_as(ref, noted)

    def invalidate(self, ref: ObjectRef) -> None:
        """Note that the files may not match the data-hash any more."""
        noted = self._noted.get(ref)
        if noted is not None:
            self._noted[ref] = noted._replace(matches_hash=False)

    def forget(self, ref: ObjectRef) -> None:
        """Drop the fingerprint of an object that is no output any more."""
        self._noted.pop(ref, None)

    def found(self) -> Sequence[ObjectRef]:
        """Objects whose files differ from their fingerprint. Blocking."""
        return [
            ref
            for ref, noted in list(self._noted.items())
            if not self._is_as(ref, noted) and self._noted.get(ref) is noted  # else: written meanwhile
        ]

    def _is_as(self, ref: ObjectRef, noted: Fingerprint) -> bool:
        return self._seen(self._statuses(ref, noted.names)) == noted.digest

    def _statuses(self, ref: ObjectRef, names: Iterable[str]) -> list[os.stat_result | None]:
        path, status = path_of(ref), self._tree.status
        return [status(f"{path}/{name}" if name else path) for name in names]

    def _seen(self, found: Iterable[os.stat_result | None]) -> int:
        return self._digest([None if status is None else stat_fingerprint(status) for status in found])

    def _digest(self, files: Iterable[StatFingerprint | None]) -> int:
        """A digest that is the same in every process if all files are there: a hash of numbers alone."""
        return hash((self._wanted, *files))

    def _is_owned(self, status: os.stat_result | None) -> bool:
        if status is None:
            return True
        settings = self._tree.settings
        mode = settings.folder_mode if stat.S_ISDIR(status.st_mode) else settings.file_mode
        return self._tree.has_owner(status, mode)


@lru_cache(maxsize=1024)
def _held(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names as one object, which thousands of Secrets share."""
    return names
