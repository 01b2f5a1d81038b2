"""Runs several writes in step with each other, so that they wait for the disk together.

A careful write waits for the disk: for its files before they get their name, then for the name. One wait of
the file system's journal serves all that was written by then, so thirty writes in step wait as long as one.
"""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self, TypeAlias, TypeVar

from syncret.daemon.backends.contract import BackendError
from syncret.daemon.backends.filesystem.tree import OutputTree

T = TypeVar("T")

Steps: TypeAlias = Generator[None, None, T]
"""A write, which pauses wherever it is about to wait for the disk."""

_OPEN: Final = 64  # files of a batch that may wait for the disk: a process may open 1,024 on many hosts


class Batch:
    """What the writes of a batch share: the folders of their namespaces, open as long as they run."""

    def __init__(self, tree: OutputTree) -> None:
        self._tree = tree
        self._folders: dict[str, int] = {}
        self._renamed: set[str] = set()
        self._failed: dict[str, OSError] = {}
        self._room = _OPEN

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for folder in self._folders.values():
            os.close(folder)

    def folder(self, namespace: str) -> int:
        """The open folder of a namespace, made where it is missing. Raises OSError and TargetUnavailable."""
        folder = self._folders.get(namespace)
        if folder is None:
            folder = self._folders[namespace] = self._tree.open_namespace(namespace, create=True)
        return folder

    def renamed(self, namespace: str) -> None:
        """A name in this namespace has changed: `sync` has to see to it."""
        self._renamed.add(namespace)

    def sync(self, namespace: str) -> None:
        """Wait until the names that changed are on the disk, once for all who ask. Raises OSError."""
        if namespace in self._renamed:
            self._renamed.discard(namespace)
            try:
                os.fsync(self._folders[namespace])
            except OSError as error:  # the kernel tells of a lost write once, but it is lost for all
                self._failed[namespace] = error
        if namespace in self._failed:
            raise self._failed[namespace]

    def may_wait(self, fd: int) -> bool:
        """Whether a written file may stay open until it is waited for; the disk begins to write it then."""
        if self._room == 0:
            return False
        self._room -= 1
        with suppress(OSError):  # a hint, which a file system may not know
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        return True


Job: TypeAlias = Callable[[Batch], Steps[None]]
"""A write that joins the batch that it is given."""


def side_by_side(writes: Sequence[Steps[T]]) -> list[T | BackendError]:
    """Take each write to its next pause, then each to the one after, until all are over.

    A write that the home refuses leaves the others alone: its error stands in the place of its result.
    """
    outcomes: dict[int, T | BackendError] = {}
    try:
        while len(outcomes) < len(writes):
            for place, write in enumerate(writes):
                if place in outcomes:
                    continue
                try:
                    next(write)
                except StopIteration as end:
                    outcomes[place] = end.value
                except BackendError as error:
                    outcomes[place] = error
    finally:
        for write in writes:
            write.close()
    return [outcomes[place] for place in range(len(writes))]
