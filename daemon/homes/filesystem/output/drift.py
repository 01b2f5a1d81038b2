"""Notices when somebody else touches written files: edits, removals, changed modes or owners.

What the files look like (inodes, sizes, times, modes, owners) is noted with each write, as it was made and
not as it is found a moment later, and compared from time to time: one `stat` for each file and folder. No
content is read; that is for whoever is told. A look outlives the process in the state file: whoever wants to
know after a restart whether a Secret still is as it was written need not read it.

What a file looks like from outside: the parts of its `stat` that change when somebody else touches it.

The time of the last status change is not part of it: hard links and swaps of folders, our own, change it.
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
    """One write: whether it changed anything, and the faces of what it made, known before others saw them.

    The name of the written folder or file itself is "".
    """

    changed: bool
    faces: Mapping[str, StatFingerprint]


def stat_fingerprint(status: os.stat_result) -> StatFingerprint:
    """What one file or folder looks like."""
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
    """What the files of an object looked like, by the names under its own path ("": that itself).

    `seen` is None where they do not look as they should. `sound` says that they hold what the object says it
    holds: see `untouched`.
    """

    names: tuple[str, ...]
    digest: int | None
    matches_hash: bool = False


class Drift:
    """One look for each written object. Safe to use from several threads."""

    def __init__(self, tree: OutputRoot) -> None:
        self._tree = tree
        self._looks: dict[ObjectRef, Fingerprint] = {}
        wanted = tree.settings
        self._wanted = (
            wanted.folder_mode,
            wanted.file_mode,
            -1 if wanted.uid is None else wanted.uid,
            -1 if wanted.gid is None else wanted.gid,
        )

    def __contains__(self, ref: ObjectRef) -> bool:
        return ref in self._looks

    def look(self, ref: ObjectRef) -> Fingerprint | None:
        """How the object was meant to look when it was noted last."""
        return self._looks.get(ref)

    def note(self, ref: ObjectRef, faces: Mapping[str, StatFingerprint], *, sound: bool) -> None:
        """This is what the object is meant to look like, by name."""
        self._looks[ref] = Fingerprint(_held(tuple(faces)), self._digest(list(faces.values())), sound)

    def record_as_found(self, ref: ObjectRef, names: Collection[str]) -> None:
        """It may stay as it is found, unless modes or owners are not as wanted."""
        found = self._statuses(ref, names)
        seen = self._seen(found) if all(map(self._is_owned, found)) else None
        self._looks[ref] = Fingerprint(_held(tuple(names)), seen)

    def restore(self, ref: ObjectRef, look: Fingerprint) -> bool:
        """Take over a look of a former life, if the object looks like that now and nothing else is wanted."""
        same = self._is_as(ref, look)
        if same:
            self._looks[ref] = look._replace(names=_held(look.names))
        return same

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """Whether the object was noted as sound and looks as it did then."""
        look = self._looks.get(ref)
        return look is not None and look.matches_hash and self._is_as(ref, look)

    def invalidate(self, ref: ObjectRef) -> None:
        """Whether the object is sound is not known any more."""
        look = self._looks.get(ref)
        if look is not None:
            self._looks[ref] = look._replace(matches_hash=False)

    def forget(self, ref: ObjectRef) -> None:
        """The object is written no more."""
        self._looks.pop(ref, None)

    def found(self) -> Sequence[ObjectRef]:
        """Objects whose files do not look as they were noted. Blocking."""
        return [
            ref
            for ref, look in list(self._looks.items())
            if not self._is_as(ref, look) and self._looks.get(ref) is look  # else: written meanwhile
        ]

    def _is_as(self, ref: ObjectRef, look: Fingerprint) -> bool:
        return self._seen(self._statuses(ref, look.names)) == look.digest

    def _statuses(self, ref: ObjectRef, names: Iterable[str]) -> list[os.stat_result | None]:
        path, status = path_of(ref), self._tree.status
        return [status(f"{path}/{name}" if name else path) for name in names]

    def _seen(self, found: Iterable[os.stat_result | None]) -> int:
        return self._digest([None if status is None else stat_fingerprint(status) for status in found])

    def _digest(self, faces: Iterable[StatFingerprint | None]) -> int:
        """The same in every life, as long as all files are there: it is made of numbers alone."""
        return hash((self._wanted, *faces))

    def _is_owned(self, status: os.stat_result | None) -> bool:
        if status is None:
            return True
        settings = self._tree.settings
        mode = settings.folder_mode if stat.S_ISDIR(status.st_mode) else settings.file_mode
        return self._tree.has_owner(status, mode)


@lru_cache(maxsize=1024)
def _held(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names; thousands of Secrets that have them in common share them."""
    return names
