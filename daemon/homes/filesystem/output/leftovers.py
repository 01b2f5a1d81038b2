"""What a crash left behind in the output folder: removed at a start, or as soon as it can be."""

import os
from collections.abc import Collection, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

from syncret.config.errors import Problem, Severity
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.homes.filesystem.output.files import OPEN_FOLDER, listed
from syncret.daemon.homes.filesystem.output.names import TEMPORARY

_Path: TypeAlias = tuple[str, ...]
"""Names from the output folder down to a leftover."""


class Leftovers:
    """Temporary files and folders of earlier runs. One that cannot be removed hinders nobody."""

    def __init__(self, trusted: Collection[int | None]) -> None:
        """`trusted` are the owners of folders in which something may be removed."""
        self._trusted = trusted
        self._left: dict[_Path, str] = {}
        """What is still there, and why."""

    def sweep(self, root: int, *, inner: bool) -> None:
        """Remove all that there is; `inner`: also below the folders of Secrets. Raises OSError.

        Call it only while nobody else writes there.
        """
        self._left = {
            path: ""
            for name, _ in _names(root)
            for path in (
                [(name,)] if name.startswith(TEMPORARY) else self._in_namespace(root, name, inner=inner)
            )
        }
        self.remove(root)

    def remove(self, root: int) -> None:
        """Try to remove what is left."""
        for path in list(self._left):
            try:
                self._remove(root, path)
            except FileNotFoundError:
                del self._left[path]
            except OSError as error:
                self._left[path] = error.strerror or type(error).__name__
            else:
                del self._left[path]

    def problems(self, folder: str) -> Sequence[HomeProblem]:
        """What is left in the output folder of this path."""
        return [
            HomeProblem(
                "/".join((folder, *path)),
                Problem(
                    path="",
                    message=f"what an earlier run left behind cannot be removed: {why}",
                    hint="remove it, or leave it: it serves nobody, and removing it is tried again",
                    severity=Severity.WARNING,
                ),
            )
            for path, why in self._left.items()
        ]

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
    """What is in a folder, and what of it are folders."""
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
