"""The content of all manifest files together, and which deletions that follow from it wait.

Objects may be missing because a file is being written, or a deployment is in progress. The objects of a
removed file are deleted at once. An object that a file no longer defines waits until the file has not been
written for a few seconds: it may be half written. These wait the whole grace period: all objects of a file
that became empty, all below a folder that was made anew and is empty, and all if most objects are missing.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec import Struct, structs

from syncret.config.errors import Problem, Severity
from syncret.config.manifests.loader import is_below, shown_name
from syncret.config.meta import ObjectRef
from syncret.daemon.core.conditions import stamp
from syncret.daemon.homes.contract import HomeProblem, RefusalReason
from syncret.daemon.homes.filesystem.manifests.reader import Manifest, duplicate_problem

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.release.hosted import HostedRelease

Signature: TypeAlias = tuple[int, ...]
"""Shows whether a file changed: device, inode, size, times of content and inode, and its bounds."""


def _nothing_is(_ref: ObjectRef, _file: str) -> bool:
    """No folder is bound."""
    return False


class Snapshot(Struct, frozen=True):
    """The content of all files together.

    `unreadable_paths` are files and folders that could not be read whole: what came from them (or from below
    them) before is not gone. `refused` are objects whose newest version is wrong. `files` are all that are
    there. `emptied` are files that hold no document, and folders that were made anew and hold no file.
    `paths_without_manifests` are paths of the settings where no document is one of ours, or that are missing;
    they are looked for in one pass only.
    `waiting` are objects that no file defines any more, and that are not to be deleted yet. `is_outside`
    says whether an object may not come from a file, because its folder is bound to others: these objects do
    not wait.
    """

    manifests: Mapping[ObjectRef, Manifest]
    problems: Sequence[HomeProblem] = ()
    unreadable_paths: Collection[str] = ()
    refused: Collection[ObjectRef] = ()
    files: Mapping[str, Signature] = {}
    emptied: Collection[str] = ()
    paths_without_manifests: Collection[str] = ()
    waiting: Collection[ObjectRef] = ()
    releases: "Sequence[HostedRelease]" = ()
    is_outside: Callable[[ObjectRef, str], bool] = _nothing_is

    def joined(
        self, folder: str, manifests: Sequence[Manifest], problems: Sequence[HomeProblem]
    ) -> "Snapshot":
        """This snapshot and the objects of another folder, which win if both define an object."""
        theirs = {manifest.ref: manifest for manifest in manifests}
        both = [
            HomeProblem(
                mine.file,
                duplicate_problem(ref, mine.line, theirs[ref]),
                ref,
                RefusalReason.DUPLICATE,
                mine.line,
            )
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
        if ref in self.manifests:
            return False
        if self.is_outside(ref, file):
            return True
        if ref in self.refused or ref in self.waiting:
            return False
        return not is_below(file, self.unreadable_paths)

    def emptied_by(self, file: str) -> str | None:
        """The file if it holds no document any more, or its folder if that was made anew and is empty."""
        return next((path for path in self.emptied if is_below(file, [path])), None)


MANY: Final = 5
"""So many objects wait if they vanish together and are more than half of all."""

QUIET: Final = 5.0
"""Seconds without a write to a file before objects that it no longer defines are deleted."""


class _Wait(NamedTuple):
    since: float
    due: float
    written: Signature | None
    """The signature of the file; None if there is none."""
    reported: HomeProblem | None


class DeletionGrace:
    """Remembers since when each object is missing from the manifests. Times are the event loop's."""

    def __init__(self, grace: float) -> None:
        """`grace` in seconds; 0: nothing waits."""
        self._grace = grace
        self._waits: dict[ObjectRef, _Wait] = {}
        self.waiting: Collection[ObjectRef] = ()
        """Objects that are missing and not to be deleted yet, as of the last look."""
        self.next_due: float | None = None
        """When the first of them is to be deleted."""

    def missing(
        self, gone: Mapping[ObjectRef, str], of: int, snapshot: Snapshot, *, now: float, wall: float
    ) -> Collection[ObjectRef]:
        """Which of the missing objects wait; `gone` has the file of each, `of` is the number of all objects.

        `wall` is the time of day, for messages.
        """
        if not self._grace:
            return ()
        gone = {ref: file for ref, file in gone.items() if not snapshot.is_outside(ref, file)}
        most = _common_path(gone.values()) if len(gone) >= MANY and 2 * len(gone) > of else None
        places = {ref: most or snapshot.emptied_by(file) for ref, file in gone.items()}
        waits = {
            ref: self._wait(ref, snapshot.files.get(file), now, whole=places[ref] is not None)
            for ref, file in gone.items()
        }
        fresh: dict[str, list[ObjectRef]] = defaultdict(list)
        for ref, place in places.items():
            if place is not None and waits[ref].reported is None and waits[ref].due > now:
                fresh[place].append(ref)
        for place, refs in fresh.items():
            until = stamp(wall + self._grace)
            problem = _most(len(gone), of, until) if place == most else _emptied(len(refs), until)
            warning = HomeProblem(shown_name(place), problem)
            waits |= {ref: waits[ref]._replace(reported=warning) for ref in refs}
        self._waits = waits
        self.waiting = frozenset(ref for ref, wait in waits.items() if wait.due > now)
        self.next_due = min((waits[ref].due for ref in self.waiting), default=None)
        return self.waiting

    def is_due(self, now: float) -> bool:
        """Whether something has waited long enough since the last look."""
        return self.next_due is not None and now >= self.next_due

    def problems(self) -> Sequence[HomeProblem]:
        """One warning for each file or folder of which objects wait the whole grace period."""
        warnings = (self._waits[ref].reported for ref in self._waits if ref in self.waiting)
        return list(dict.fromkeys(each for each in warnings if each is not None))

    def _wait(self, ref: ObjectRef, written: Signature | None, now: float, *, whole: bool) -> _Wait:
        """The wait of an object; one that waits already keeps its due time or gets a later one."""
        before = self._waits.get(ref) or _Wait(now, now, None, None)
        until = before.since + self._grace
        due = before.due
        if whole:
            due = until
        elif written is not None and written != before.written:
            due = max(due, min(now + QUIET, until))
        return before._replace(due=due, written=written)


def _common_path(files: Collection[str]) -> str:
    return os.path.commonpath(files)


def _most(gone: int, of: int, until: str) -> Problem:
    return Problem(
        path="",
        message=f"{gone} of {of} objects are not defined any more; those that are missing still at {until} "
        "are deleted then",
        hint="put the files back; deletionGrace is how long most of all objects must be missing",
        severity=Severity.WARNING,
    )


def _emptied(objects: int, until: str) -> Problem:
    noun = "the object" if objects == 1 else f"the {objects} objects"
    return Problem(
        path="",
        message=f"holds no manifests any more; {noun} defined here will be deleted at {until}",
        hint="put the content back; deletionGrace is how long it must be missing",
        severity=Severity.WARNING,
    )
