"""Makes single files and removes what is ours: owner and mode first, then the bytes, then the disk."""

import os
import stat
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from syncret.daemon.delivery.paths import Place, Refused, Trust, opened
from syncret.daemon.files.syscalls import CREATE_FILE, OPEN_FOLDER, listed, write_all

_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
LARGEST: Final = 4 << 20
"""Bytes of a file that may be ours; a longer one is somebody else's."""

_OPEN_AT_ONCE: Final = 64
"""Files that wait for the disk together."""


class Look(Struct, frozen=True, kw_only=True):
    """Owner, group and modes of what is delivered; None: as the daemon's."""

    uid: int | None = None
    gid: int | None = None
    mode: int = 0o400
    folder_mode: int = 0o700

    def give(self, fd: int, mode: int) -> None:
        """Set them on an open file or folder, before it has content or its name."""
        if self.uid is not None or self.gid is not None:
            try:
                os.fchown(fd, -1 if self.uid is None else self.uid, -1 if self.gid is None else self.gid)
            except PermissionError:
                raise self._no_right(os.fstat(fd)) from None
        os.fchmod(fd, mode)

    def _no_right(self, status: os.stat_result) -> Refused:
        if self.uid in (None, status.st_uid):
            hint = f"let the daemon be in it: SupplementaryGroups={self.gid} in a drop-in of syncret.service"
            return Refused(f"the daemon has no right to give files to group {self.gid}", hint)
        hint = "leave owner out, or install deliver-as-root.conf as a drop-in of syncret.service"
        return Refused(f"the daemon has no right to give files to user {self.uid}", hint)

    def is_on(self, status: os.stat_result, mode: int) -> bool:
        """Whether a file or folder has them."""
        return (
            stat.S_IMODE(status.st_mode) == mode
            and status.st_uid == (os.geteuid() if self.uid is None else self.uid)
            and (self.gid is None or status.st_gid == self.gid)
        )


def make_files(folder: int, files: Mapping[str, bytes], look: Look, *, fsync: bool) -> None:
    """New files under new names: the disk takes them while more are written, then is waited for."""
    waiting: list[int] = []
    try:
        for name, content in files.items():
            waiting.append(_written(folder, name, content, look))
            if fsync:
                os.posix_fadvise(waiting[-1], 0, 0, os.POSIX_FADV_DONTNEED)
            if len(waiting) == _OPEN_AT_ONCE:
                _settle(waiting, fsync=fsync)
        _settle(waiting, fsync=fsync)
    finally:
        for fd in waiting:
            os.close(fd)


def _written(folder: int, name: str, content: bytes, look: Look) -> int:
    """A new file, still open."""
    fd = os.open(name, CREATE_FILE, 0o600, dir_fd=folder)
    try:
        look.give(fd, look.mode)
        write_all(fd, content)
    except BaseException:  # closed, and raised again
        os.close(fd)
        raise
    return fd


def _settle(waiting: list[int], *, fsync: bool) -> None:
    """Close these, once they are on the disk."""
    while waiting:
        if fsync:
            os.fsync(waiting[-1])
        os.close(waiting.pop())


def read_file(folder: int, name: str) -> tuple[os.stat_result, bytes] | None:
    """A regular file; None where there is none, or something else."""
    try:
        fd = os.open(name, _READ, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        if _is_regular(folder, name):
            raise
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        content = b""
        while more := os.read(fd, LARGEST + 1 - len(content)):
            content += more
        return status, content
    finally:
        os.close(fd)


def remove_ours(place: Place, name: str) -> None:
    """Remove a file or folder of ours beside a target. Raises Refused for one that is not ours."""
    status = place.status(name)
    if status is None:
        return
    if status.st_uid not in place.trust.owners | {place.trust.last}:
        raise Refused(
            f"{place.beside(name)} belongs to uid {status.st_uid}; syncret did not make it",
            "move it away",
        )
    if stat.S_ISDIR(status.st_mode):
        remove_folder(place.folder, name)
    else:
        os.unlink(name, dir_fd=place.folder)


def remove_folder(parent: int, name: str) -> None:
    """Remove a folder with the files and links in it; folders in it are not ours, and stop that."""
    folder = os.open(name, OPEN_FOLDER, dir_fd=parent)
    try:
        for each in listed(folder):
            os.unlink(each, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)


def remove_tree(path: str) -> None:
    """Remove a folder of our own with the folders of files in it. Raises FileNotFoundError and Refused."""
    with opened(path, Trust.of_process(), make=False) as place:
        folder = os.open(place.name, OPEN_FOLDER, dir_fd=place.folder)
        try:
            for name in listed(folder):
                remove_folder(folder, name)
        finally:
            os.close(folder)
        os.rmdir(place.name, dir_fd=place.folder)


def _is_regular(folder: int, name: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
