"""Notices that somebody else touched written files: an edit, a removal, other modes or owners.

What the files look like (inodes, sizes, times, modes, owners) is noted with each write, as it was made and
not as it is found a moment later, and compared from time to time: one `stat` for each file and folder. No
content is read; that is for whoever is told.
"""

import stat
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.filesystem.faces import Face, face
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

    def note(self, ref: ObjectRef, faces: Mapping[str, Face]) -> None:
        """This is what the object is meant to look like, by path."""
        self._looks[ref] = Look(tuple(faces), hash(tuple(faces.values())))

    def note_found(self, ref: ObjectRef, paths: Collection[str]) -> None:
        """It may stay as it is found, unless modes or owners are not as wanted."""
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
        found = [self._tree.status(path) for path in paths]
        return Look(paths, hash(tuple(None if status is None else face(status) for status in found)))

    def _is_owned(self, path: str) -> bool:
        status, settings = self._tree.status(path), self._tree.settings
        if status is None:
            return True
        mode = settings.folder_mode if stat.S_ISDIR(status.st_mode) else settings.file_mode
        return self._tree.owned(status, mode)
