"""Opens the paths of targets folder by folder, without following links, and refuses folders others can write.

A user who can write to a folder on the way could replace what is below it. So each folder must belong to root
or the daemon, and be writable by neither group nor others.
"""

import errno
import os
import stat
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from syncret.daemon.files.syscalls import OPEN_FOLDER, identity_of, is_mount_root

STAGED: Final = "..syncret-next."
"""Prefix of the name of a staged set; the name of the target follows. A check unit may bind it."""

PREVIOUS: Final = "..syncret-old."
"""Prefix of the name of the previous set."""

_WAY: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
_SHARED: Final = stat.S_IWGRP | stat.S_IWOTH
_MADE: Final = 0o755


class Refused(Exception):
    """Something about a Delivery or its paths that an administrator has to change first; `hint` says how."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


class Moved(Exception):
    """The folder of a target is no longer at its path: open it again."""


class Trust(Struct, frozen=True, kw_only=True):
    """Which owners folders on the way to a target may have."""

    owners: frozenset[int]
    """Root and the daemon."""
    last: int | None = None
    """Another user who may own the last folder: the owner of the target."""
    in_container: bool = False
    """Whether a volume of the pod is accepted although every user can write to it."""

    @classmethod
    def of_process(cls, *, last: int | None = None, in_container: bool = False) -> "Trust":
        """Root and the user of this process."""
        return cls(owners=frozenset({0, os.geteuid()}), last=last, in_container=in_container)


class Place(Struct, frozen=True, kw_only=True):
    """A name in an open folder, which passed the checks."""

    path: str
    folder: int
    """The open folder; every call is relative to it."""
    name: str
    trust: Trust
    fsync: bool = True

    @property
    def staged(self) -> str:
        """The name under which the next set is staged."""
        return STAGED + self.name

    @property
    def previous(self) -> str:
        """The name of the previous set."""
        return PREVIOUS + self.name

    def beside(self, name: str) -> str:
        """The whole path of another name in the folder."""
        return f"{self.path.removesuffix(self.name)}{name}"

    def status(self, name: str | None = None) -> os.stat_result | None:
        """The status of a name in the folder, links not followed; None where there is none."""
        try:
            return os.stat(self.name if name is None else name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def check_current(self) -> None:
        """Raise Moved if another folder is at the path now: nothing is written to one that was moved."""
        try:
            with opened(self.path, self.trust, make=False) as again:
                if identity_of(os.fstat(again.folder)) == identity_of(os.fstat(self.folder)):
                    return
        except FileNotFoundError:
            pass
        raise Moved(self.path)

    def sync(self) -> None:
        """Sync the folder, so that its names are on the disk."""
        if self.fsync:
            os.fsync(self.folder)


@contextmanager
def opened(path: str, trust: Trust, *, make: bool = True, fsync: bool = True) -> Generator[Place, None, None]:
    """The place at a path; folders that are missing on the way are made. Raises Refused and OSError."""
    *way, name = path.strip("/").split("/")
    folder = _reached(way, trust, make=make)
    try:
        reader = os.open(".", OPEN_FOLDER, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        place = Place(path=path, folder=reader, name=name, trust=trust, fsync=fsync)
        _check_target(place)
        yield place
    finally:
        os.close(reader)


@contextmanager
def opened_folder(way: Collection[str], trust: Trust) -> Generator[int, None, None]:
    """Open a folder to open files in; it and all above it passed the checks, and none is a link."""
    folder = _reached(way, trust, make=False)
    try:
        yield folder
    finally:
        os.close(folder)


def _reached(way: Collection[str], trust: Trust, *, make: bool) -> int:
    """The last folder, opened with O_PATH, as the daemon may have no right to read it."""
    folder, path = os.open("/", _WAY), ""
    try:
        _check(folder, "/", trust, is_last=not way)
        for number, part in enumerate(way, 1):
            path += f"/{part}"
            inner = _entered(folder, part, path, make=make)
            os.close(folder)
            folder = inner
            _check(folder, path, trust, is_last=number == len(way))
    except BaseException:  # closed, and raised again
        os.close(folder)
        raise
    return folder


def _entered(folder: int, part: str, path: str, *, make: bool) -> int:
    try:
        return os.open(part, _WAY, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        _make(folder, part)
        return os.open(part, _WAY, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        found = os.stat(part, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise Refused(
                f"{path} is a symbolic link, and none is followed", f"name what it leads to: {_real(path)}"
            ) from None
        raise Refused(f"{path} is no folder", "move it away, or choose another path") from None


def _make(folder: int, part: str) -> None:
    with_parent = os.open(".", OPEN_FOLDER, dir_fd=folder)
    try:
        os.mkdir(part, 0o700, dir_fd=with_parent)
        made = os.open(part, OPEN_FOLDER, dir_fd=with_parent)
        try:
            os.fchmod(made, _MADE)
        finally:
            os.close(made)
        os.fsync(with_parent)
    finally:
        os.close(with_parent)


def _check(folder: int, path: str, trust: Trust, *, is_last: bool) -> None:
    status = os.fstat(folder)
    if status.st_uid not in trust.owners and not (is_last and status.st_uid == trust.last):
        raise Refused(
            f"{path} belongs to uid {status.st_uid}, who could replace what is delivered",
            f"give it to root or to the user of syncret: chown {os.geteuid()} {path}",
        )
    if not status.st_mode & _SHARED:
        return
    if status.st_mode & stat.S_ISVTX and not is_last:
        return
    if trust.in_container and is_mount_root(folder):
        return
    who = "everybody" if status.st_mode & stat.S_IWOTH else f"group {status.st_gid}"
    raise Refused(f"{path} is writable by {who}", f"chmod go-w {path}")


def _check_target(place: Place) -> None:
    if place.status() is not None and is_mount_root(place.folder, place.name):
        raise Refused(
            f"{place.path} is a mount point, which cannot be swapped",
            "deliver one level deeper, or use layout: links",
        )


def _real(path: str) -> str:
    return str(Path(path).resolve())
