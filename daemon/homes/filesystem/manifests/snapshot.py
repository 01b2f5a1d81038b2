"""What all manifest files say together, as they were when they were looked at last."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, structs

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.homes.filesystem.manifests.reader import Manifest, duplicate_problem

Signature: TypeAlias = tuple[int, ...]
"""What tells that a file did not change: device, inode, size, times of content and inode."""


class Snapshot(Struct, frozen=True):
    """What all files say together.

    `unreadable_paths` are files and folders that could not be read whole: what came from them (or from below
    them) before is not gone. `refused` are objects whose newest version is wrong. `files` are all that are
    there. `emptied` are files that hold no document, and folders that were made anew and hold no file.
    `waiting` are objects that no file defines any more, and that are not to be deleted yet.
    """

    manifests: Mapping[ObjectRef, Manifest]
    problems: Sequence[HomeProblem] = ()
    unreadable_paths: Collection[str] = ()
    refused: Collection[ObjectRef] = ()
    files: Mapping[str, Signature] = {}
    emptied: Collection[str] = ()
    waiting: Collection[ObjectRef] = ()

    def joined(
        self, folder: str, manifests: Sequence[Manifest], problems: Sequence[HomeProblem]
    ) -> "Snapshot":
        """This, and what another folder gives; that one's stays in force where both give an object."""
        theirs = {manifest.ref: manifest for manifest in manifests}
        both = [
            HomeProblem(mine.file, duplicate_problem(ref, mine.line, theirs[ref]))
            for ref, mine in self.manifests.items()
            if ref in theirs
        ]
        unread = any(problem.source == folder for problem in problems)
        return structs.replace(
            self,
            manifests={**self.manifests, **theirs},
            problems=[*self.problems, *problems, *both],
            unreadable_paths=[*self.unreadable_paths, folder] if unread else self.unreadable_paths,
        )

    def is_gone(self, ref: ObjectRef, file: str) -> bool:
        """Whether an object that came from this file is to be deleted."""
        if ref in self.manifests or ref in self.refused or ref in self.waiting:
            return False
        return not is_below(file, self.unreadable_paths)

    def emptied_by(self, file: str) -> str | None:
        """The file if it holds no document any more, or its folder if that was made anew and is empty."""
        return next((path for path in self.emptied if is_below(file, [path])), None)


def is_below(file: str, paths: Collection[str]) -> bool:
    """Whether a file is one of these, or in one of these folders."""
    return any(file == path or file.startswith(path.rstrip("/") + "/") for path in paths)
