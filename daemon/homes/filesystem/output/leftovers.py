"""Hidden parts of the output folder: leftovers of a crash, and sets that were replaced a moment ago."""

import os
import time
from collections import deque
from collections.abc import Collection, Generator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Final, TypeAlias

from syncret.config.errors import Problem, Severity
from syncret.daemon.files.syscalls import OPEN_FOLDER, listed
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.homes.filesystem.output.names import TEMPORARY

KEPT_FOR: Final = 1.0
"""Seconds for which a set that was replaced stays whole, for readers that have opened its folder."""

MOST_KEPT: Final = 1024
"""Sets that are kept so; if more are replaced within a second, the oldest of them go."""

_Path: TypeAlias = tuple[str, ...]
"""Names from the output folder down to a leftover."""


class Leftovers:
    """Temporary files and folders of earlier runs, and replaced sets. One that stays does no harm.

    Sets are replaced in several threads.
    """

    def __init__(self, trusted: Collection[int | None]) -> None:
        """`trusted` are the owners of folders in which something may be removed."""
        self._trusted = trusted
        self._left: dict[_Path, str] = {}
        """Leftovers that are still there, and why."""
        self._kept: deque[tuple[float, _Path]] = deque()
        """Sets that were replaced, and when each may go."""

    def sweep(self, root: int, *, inner: bool) -> None:
        """Remove all that there is; `inner`: also below the folders of Secrets. Raises OSError.

        Call it only while nothing else is written there.
        """
        self._left = {
            path: ""
            for name, is_folder in _names(root)
            for path in (
                [(name,)]
                if name.startswith(TEMPORARY)
                else self._in_namespace(root, name, inner=inner)
                if is_folder  # a file in the place of a namespace is reported by its objects
                else []
            )
        }
        self.remove(root)

    def remove(self, root: int) -> None:
        """Try to remove what is left."""
        for path in list(self._left):
            self._try_to_remove(root, path)

    @property
    def keeps_sets(self) -> bool:
        """Whether there are sets that were replaced."""
        return bool(self._kept)

    def keep_set(self, root: int, namespace: str, name: str) -> None:
        """Keep a set that was replaced for a while; its hidden name is in the folder of this namespace."""
        self._kept.append((time.monotonic() + KEPT_FOR, (namespace, name)))
        while len(self._kept) > MOST_KEPT:
            self._remove_first_kept(root, inf)

    def remove_sets(self, root: int, *, now: bool = False) -> None:
        """Remove the sets that were kept for long enough; `now`: all."""
        moment = inf if now else time.monotonic()
        while self._remove_first_kept(root, moment):
            pass

    def _remove_first_kept(self, root: int, moment: float) -> bool:
        try:
            due, path = self._kept.popleft()
        except IndexError:
            return False
        if due > moment:
            self._kept.appendleft((due, path))
            return False
        self._left[path] = ""
        self._try_to_remove(root, path)
        return True

    def problems(self, folder: str) -> Sequence[HomeProblem]:
        """The leftovers in the output folder of this path, as problems."""
        return [
            HomeProblem(
                "/".join((folder, *path)),
                Problem(
                    path="",
                    message=f"what an earlier run left behind cannot be removed: {why}",
                    hint="remove it, or leave it: it has no use, and removing it is tried again",
                    severity=Severity.WARNING,
                ),
            )
            for path, why in list(self._left.items())
            if why
        ]

    def _try_to_remove(self, root: int, path: _Path) -> None:
        try:
            self._remove(root, path)
        except FileNotFoundError:
            self._left.pop(path, None)
        except OSError as error:
            self._left[path] = error.strerror or type(error).__name__
        else:
            self._left.pop(path, None)

    def _in_namespace(self, root: int, namespace: str, *, inner: bool) -> Sequence[_Path]:
        found: list[_Path] = []
        with _if_allowed(namespace, root) as folder:
            if folder is None or os.fstat(folder).st_uid not in self._trusted:
                return found
            for name, is_folder in _names(folder):
                if name.startswith(TEMPORARY):
                    found.append((namespace, name))
                elif is_folder and inner:
                    with _if_allowed(name, folder) as secret:
                        files = [] if secret is None else listed(secret)
                    found += [(namespace, name, file) for file in files if file.startswith(TEMPORARY)]
        return found

    def _remove(self, root: int, path: _Path) -> None:
        folder = root
        with ExitStack() as opened:
            for name in path[:-1]:
                folder = os.open(name, OPEN_FOLDER, dir_fd=folder)
                opened.callback(os.close, folder)
            if folder == root or os.fstat(folder).st_uid in self._trusted:
                discard(folder, path[-1])


def discard(parent: int, name: str) -> None:
    """Remove a temporary file, or a temporary folder and the files in it: never anything deeper."""
    try:
        fd = os.open(name, OPEN_FOLDER, dir_fd=parent)
    except NotADirectoryError:
        os.unlink(name, dir_fd=parent)
        return
    try:
        for inner in listed(fd):
            os.unlink(inner, dir_fd=fd)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=parent)


def _names(folder: int) -> Sequence[tuple[str, bool]]:
    """The names in a folder, and whether each is a folder."""
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


@contextmanager
def _if_allowed(name: str, parent: int) -> Generator[int | None, None, None]:
    """An open folder; None where we may not open it (a `lost+found`), for then nothing in it is ours."""
    try:
        fd = os.open(name, OPEN_FOLDER, dir_fd=parent)
    except PermissionError:
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)
