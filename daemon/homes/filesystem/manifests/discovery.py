"""Finds the manifest files below a folder. An entry that cannot be examined does not affect the others.

What helps where manifests cannot be read: another thing for who looks once than for who keeps looking.
"""

import os
import stat
from collections.abc import Iterator
from typing import TypeAlias

from msgspec.structs import replace

from syncret.config.errors import Problem
from syncret.config.manifests.loader import SUFFIXES, special_file_name


class Remedies:
    """Puts the remedy that fits into problems of files and folders."""

    def __init__(self, *, once: bool, former: bool) -> None:
        """As `ManifestFolders` has them."""
        self.once = once
        self._former = former

    def of_path(self, problem: Problem) -> Problem:
        """Of a path that the operator named."""
        if self.once:
            return self.of_file(problem)
        hint = "what it said last stays in force until it can be read, or is removed from the settings"
        return replace(problem, hint=hint)

    def of_file(self, problem: Problem) -> Problem:
        """Of what was found in a folder."""
        if self.once and not self._former:
            return problem
        return replace(problem, hint=f"what it said last stays in force; {problem.hint}")


def followed(mode: int) -> Problem:
    """Of a pipe or a device that is to be followed."""
    return Problem(
        path="",
        message=f"is {special_file_name(mode)}: it cannot be read again and again",
        hint="name a file or a folder; `syncret sync` reads a pipe, once",
    )


_SUFFIXES = tuple(SUFFIXES)

Found: TypeAlias = os.stat_result | OSError
"""A file, or why it cannot be looked at."""


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """What tells one file or folder from all others."""
    return status.st_dev, status.st_ino


def walk(folder: str, seen: set[tuple[int, int]]) -> Iterator[tuple[str, Found]]:
    """What is called as manifests are, below a folder, in the order of names, each once; links are followed.

    Hidden names are passed over: editors' copies, `.git`, and the inner folders of a mounted ConfigMap.
    What cannot be examined (a folder without permission, a link to itself) is yielded with its error. Raises
    OSError for the folder itself.
    """
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        try:
            status = entry.stat()
        except OSError as error:
            if not isinstance(error, FileNotFoundError) or _is_dead_link(entry):
                yield entry.path, error
            continue  # or gone since it was listed
        identity, is_folder = identity_of(status), stat.S_ISDIR(status.st_mode)
        if identity in seen or not (is_folder or entry.name.endswith(_SUFFIXES)):
            continue
        seen.add(identity)
        if is_folder:
            try:
                yield from walk(entry.path, seen)
            except FileNotFoundError:  # gone since it was listed
                continue
            except OSError as error:
                yield entry.path, error
        else:
            yield entry.path, status


def _is_dead_link(entry: os.DirEntry[str]) -> bool:
    """Whether a manifest would be here if there were a file at the end of the link, on its disk."""
    return entry.name.endswith(_SUFFIXES) and entry.is_symlink()
