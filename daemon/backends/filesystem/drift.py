"""Notices that somebody else touched written files: an edit, a removal, other modes or owners.

What the files looked like (inodes, sizes, times, modes, owners) is noted after each write, and compared from
time to time: one `stat` for each file and folder. No content is read; that is for whoever is told.
"""

import os
import stat
from collections.abc import Collection, Sequence
from typing import NamedTuple

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.filesystem.tree import OutputTree


class Look(NamedTuple):
    """What the files at some paths below the output folder looked like; None: not as they should."""

    paths: tuple[str, ...]
    seen: int | None


class Drift:
    """One look for each written object. Safe to use from several threads."""

    def __init__(self, tree: OutputTree) -> None:
        self._tree = tree
        self._looks: dict[ObjectRef, Look] = {}

    def __contains__(self, ref: ObjectRef) -> bool:
        return ref in self._looks

    def note(self, ref: ObjectRef, paths: Collection[str]) -> None:
        """This is what the object is meant to look like."""
        self._looks[ref] = self._look(tuple(paths))

    def note_found(self, ref: ObjectRef, paths: Collection[str]) -> None:
        """This is what a former life left; modes and owners may be those of other settings."""
        look = self._look(tuple(paths))
        self._looks[ref] = look if all(map(self._is_owned, paths)) else look._replace(seen=None)

    def forget(self, ref: ObjectRef) -> None:
        """The object is written no more."""
        self._looks.pop(ref, None)

    def found(self) -> Sequence[ObjectRef]:
        """Objects whose files do not look as they were noted. Blocking."""
        return [
            ref
            for ref, look in list(self._looks.items())
            if self._look(look.paths) != look and self._looks.get(ref) is look  # else: written meanwhile
        ]

    def _look(self, paths: tuple[str, ...]) -> Look:
        return Look(paths, hash(tuple(_face(self._tree.status(path)) for path in paths)))

    def _is_owned(self, path: str) -> bool:
        status, settings = self._tree.status(path), self._tree.settings
        if status is None:
            return True
        mode = settings.folder_mode if stat.S_ISDIR(status.st_mode) else settings.file_mode
        return self._tree.owned(status, mode)


def _face(status: os.stat_result | None) -> tuple[int, ...] | None:
    if status is None:
        return None
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_uid,
        status.st_gid,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
