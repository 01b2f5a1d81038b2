"""Holds back deletions of one pass, for paths that contain no manifests any more.

An empty checkout looks like a request to delete every secret. In a daemon such deletions wait for a while;
one pass looks only once, so they need the flag `--allow-empty`.
"""

from collections.abc import Collection, Mapping, Sequence

from syncret.config.errors import Problem
from syncret.config.manifests.loader import is_below, shown_name
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.homes.filesystem.manifests.snapshot import Snapshot


class EmptyPathGuard:
    """Holds back deletions of one pass, as `DeletionGrace` does those of a daemon; they are never due."""

    next_due = None

    def __init__(self, paths: Sequence[str], *, allow_empty: bool) -> None:
        """`paths` of the settings; `allow_empty`: paths without manifests are intended."""
        self._paths = paths
        self._allow_empty = allow_empty
        self._problems: list[HomeProblem] = []
        self.waiting: Collection[ObjectRef] = ()
        """Objects that are missing and not deleted."""

    def missing(
        self, gone: Mapping[ObjectRef, str], of: int, snapshot: Snapshot, *, now: float, wall: float
    ) -> Collection[ObjectRef]:
        """Which of the missing objects stay: those of paths without manifests; all if no path has any.

        A path that does not exist is never intended: then `allow_empty` changes nothing.
        """
        del of, now, wall
        empty = snapshot.paths_without_manifests
        everything = len(empty) == len(self._paths)
        missing = [path for path in empty if path in snapshot.unreadable_paths]
        if self._allow_empty and not (everything and missing):
            return ()
        held = {
            ref: file
            for ref, file in gone.items()
            if not snapshot.is_outside(ref, file) and (everything or is_below(file, empty))
        }
        for path in () if self._allow_empty else empty:
            below = [ref for ref, file in held.items() if everything or is_below(file, [path])]
            if below and path not in missing:  # else it is reported as missing already
                self._problems.append(HomeProblem(shown_name(path), _empty(len(below))))
        self.waiting = held.keys()
        return self.waiting

    def is_due(self, now: float) -> bool:
        """Whether something has waited long enough: never."""
        del now
        return False

    def problems(self) -> Sequence[HomeProblem]:
        """An error for each path without manifests whose objects stay."""
        return self._problems


def _empty(objects: int) -> Problem:
    known, stay = (
        ("the object that is", "it stays")
        if objects == 1
        else (f"the {objects} objects that are", "they stay")
    )
    return Problem(
        path="",
        message=f"holds no manifests, so {known} known from earlier passes would be deleted",
        hint=f"{stay} in force; correct the path, or say --allow-empty if nothing is wanted",
    )
