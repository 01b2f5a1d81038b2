"""Paths to deliver to: reached folder by folder without following a link, where nobody else could interfere.

Whoever can write to a folder on the way can put something else in the place of what is below it. So each
folder belongs to root or the daemon, and neither group nor others may write to it.
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
"""What the name of a staged set begins with; its end is the name of the target. A check unit may bind it."""

PREVIOUS: Final = "..syncret-old."
"""What the name of the set before begins with."""

_WAY: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
_SHARED: Final = stat.S_IWGRP | stat.S_IWOTH
_MADE: Final = 0o755


class Refused(Exception):
    """A place that nothing is delivered to, until somebody changes it; `hint` says how."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


class Moved(Exception):
    """The folder of a target is not at its path any more: open it anew."""


class Trust(Struct, frozen=True, kw_only=True):
    """Whose folders may be on the way."""

    owners: frozenset[int]
    """Root and the daemon."""
    last: int | None = None
    """Who may own the last folder, too: the owner that the target gets."""
    in_container: bool = False
    """Whether a volume of the pod, open to all, is as good as a folder of our own."""

    @classmethod
    def of_process(cls, *, last: int | None = None, in_container: bool = False) -> "Trust":
        """Root and the user of this process."""
        return cls(owners=frozenset({0, os.geteuid()}), last=last, in_container=in_container)


class Place(Struct, frozen=True, kw_only=True):
    """A name in an open folder, which was found safe."""

    path: str
    folder: int
    """The open folder; every call is relative to it."""
    name: str
    trust: Trust
    fsync: bool = True

    @property
    def staged(self) -> str:
        """The name of what is to go live."""
        return STAGED + self.name

    @property
    def previous(self) -> str:
        """The name of what was live before."""
        return PREVIOUS + self.name

    def beside(self, name: str) -> str:
        """The whole path of another name in the folder."""
        return f"{self.path.removesuffix(self.name)}{name}"

    def status(self, name: str | None = None) -> os.stat_result | None:
        """What is under a name of the folder, links not followed; None where nothing is."""
        try:
            return os.stat(self.name if name is None else name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def check_current(self) -> None:
        """Raise Moved if another folder is at the path now: nothing is written to one that was moved away."""
        try:
            with opened(self.path, self.trust, make=False) as again:
                if identity_of(os.fstat(again.folder)) == identity_of(os.fstat(self.folder)):
                    return
        except FileNotFoundError:
            pass
        raise Moved(self.path)

    def sync(self) -> None:
        """Wait until the disk knows the names."""
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
    """A folder, reached without a link and found safe like every one above it, to open files in."""
    folder = _reached(way, trust, make=False)
    try:
        yield folder
    finally:
        os.close(folder)


def _reached(way: Collection[str], trust: Trust, *, make: bool) -> int:
    """The last folder, open as a place alone (O_PATH): it may be one that we cannot read."""
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
            f"{path} belongs to uid {status.st_uid}, who could put something else there",
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
