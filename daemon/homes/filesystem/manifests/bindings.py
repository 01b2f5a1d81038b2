"""Which files belong to which bound folder, and which links lead out of one, or into one.

A file belongs to the folder of the settings that is nearest above it, by its name. Links cannot change that:
in a bound folder those that lead out of it are not followed, and elsewhere those that lead into one.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec

from syncret.config.errors import Problem, Severity
from syncret.config.manifests.bound_folders import bounds_of, outside_bounds
from syncret.config.manifests.loader import is_below, read_bounded
from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import HOST_KINDS, Kinds
from syncret.config.settings import BoundFolder
from syncret.config.spelling import did_you_mean
from syncret.daemon.homes.contract import HomeProblem

_MOST_LINKS: Final = 40
"""As many as Linux follows in one path."""


class ForeignLink(Problem, frozen=True):
    """A link that is not followed; the objects behind it are no longer defined."""


class Bindings:
    """The bound folders of the settings, by absolute path."""

    def __init__(self, folders: Sequence[BoundFolder]) -> None:
        self._bound = {folder.path: folder for folder in folders}

    def of(self, file: str) -> BoundFolder | None:
        """The bound folder that a file belongs to by its name; the innermost of several."""
        return bounds_of(file, self._bound.values())

    def is_outside(self, ref: ObjectRef, file: str) -> bool:
        """Whether an object that came from this file may not come from there."""
        folder = self.of(file)
        return folder is not None and outside_bounds(ref, folder) is not None

    def fingerprint(self, file: str) -> tuple[int, ...]:
        """A fingerprint of the bounds of a file: if it changes, the file has to be read again."""
        folder = self.of(file)
        return () if folder is None else (crc32(msgspec.json.encode(folder)),)

    def others(self, path: str) -> list[str]:
        """The bound folders that are read by themselves, and not as part of what is at this path."""
        return [other for other in self._bound if other != path]

    def foreign_link(self, path: str, link: str) -> ForeignLink | None:
        """Why a link found below a path of the settings is not followed."""
        try:
            visited = list(_resolved(link, _MOST_LINKS))
        except OSError:
            return None  # it leads nowhere, and is reported as such
        return self._foreign(path, visited)

    def read(self, path: str, file: str, limit: int) -> bytes:
        """The content of a file found below a path of the settings. Raises OSError, also for a foreign one.

        Links were checked when the file was found; here, it is known which file is open.
        """
        place = os.open(file, os.O_PATH | os.O_CLOEXEC)
        try:
            opened = f"/proc/self/fd/{place}"
            if self._foreign(path, [str(Path(opened).readlink())]) is not None:
                raise OSError(errno.EXDEV, "a link was changed while it was followed")
            return read_bounded(opened, limit)
        finally:
            os.close(place)

    def problems(self, kinds: Kinds) -> Iterator[HomeProblem]:
        """Kinds of the settings that do not exist."""
        known = [each.kind for each in (*kinds.names(), *(kind.group_kind for kind in HOST_KINDS))]
        for folder in self._bound.values():
            for kind in folder.kinds:
                if kind not in known:
                    yield HomeProblem(
                        folder.path,
                        Problem(
                            path="kinds",
                            message=f'unknown kind "{kind}" in the setting manifests',
                            hint=did_you_mean(kind, known),
                            severity=Severity.WARNING,
                        ),
                    )

    def _foreign(self, path: str, visited: Sequence[str]) -> ForeignLink | None:
        """`visited` are the places of links that were followed, and last the place that they led to."""
        if path in self._bound and not is_below(visited[-1], [os.path.realpath(path)]):
            return ForeignLink(
                path="",
                message=f"is a link that leads out of {path}, and is not followed",
                hint="put the file here in place of the link: the setting manifests binds this folder",
            )
        for place in visited:
            owner = self._owner(place)
            if owner not in (None, path):
                return ForeignLink(
                    path="",
                    message=f"is a link into {owner}, and is not followed",
                    hint="remove the link: the setting manifests binds that folder, and it is read by itself",
                )
        return None

    def _owner(self, place: str) -> str | None:
        """The innermost bound folder that a place without links is in."""
        roots = {root: path for path in self._bound for root in (path, os.path.realpath(path))}
        return roots.get(max((root for root in roots if is_below(place, [root])), key=len, default=""))


def _resolved(path: str, links: int) -> Iterator[str]:
    """The places of all links on the way, and last the place that the path leads to. Raises OSError."""
    at, names = Path("/"), path.split("/")[::-1]
    while names:
        name = names.pop()
        if name == "..":
            at = at.parent
            continue
        at /= name  # nothing, and a dot, stay here
        target = _link_target(at)
        if target is None:
            continue
        links -= 1
        if links < 0:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        yield str(at)
        names += target.split("/")[::-1]
        at = Path("/") if target.startswith("/") else at.parent
    yield str(at)


def _link_target(place: Path) -> str | None:
    try:
        return os.readlink(place)  # noqa: PTH115  # the text: a Path has no dots
    except OSError as error:
        if error.errno == errno.EINVAL:  # not a link
            return None
        raise
