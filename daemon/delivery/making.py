"""Creates and removes files of the daemon: owner and mode are set before content is written and synced."""

import os
import stat
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from syncret.daemon.delivery.paths import Place, Refused, Trust, opened
from syncret.daemon.files.syscalls import CREATE_FILE, OPEN_FOLDER, listed, write_all

_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
LARGEST: Final = 4 << 20
"""Bytes of a file that the daemon may have written; a longer one belongs to another program."""

_OPEN_AT_ONCE: Final = 64
"""Files that are kept open until they are synced together."""


class Permissions(Struct, frozen=True, kw_only=True):
    """Owner, group and modes of delivered files and folders; None: the daemon's own owner or group."""

    uid: int | None = None
    gid: int | None = None
    mode: int = 0o400
    folder_mode: int = 0o700

    def apply(self, fd: int, mode: int) -> None:
        """Set them on an open file or folder, before it has content."""
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

    def match(self, status: os.stat_result, mode: int) -> bool:
        """Whether a file or folder has them."""
        return (
            stat.S_IMODE(status.st_mode) == mode
            and status.st_uid == (os.geteuid() if self.uid is None else self.uid)
            and (self.gid is None or status.st_gid == self.gid)
        )


def make_files(folder: int, files: Mapping[str, bytes], permissions: Permissions, *, fsync: bool) -> None:
    """Create new files. Their content goes to the disk while more are written; then all are synced."""
    waiting: list[int] = []
    try:
        for name, content in files.items():
            waiting.append(_written(folder, name, content, permissions))
            if fsync:
                os.posix_fadvise(waiting[-1], 0, 0, os.POSIX_FADV_DONTNEED)
            if len(waiting) == _OPEN_AT_ONCE:
                _settle(waiting, fsync=fsync)
        _settle(waiting, fsync=fsync)
    finally:
        for fd in waiting:
            os.close(fd)


def _written(folder: int, name: str, content: bytes, permissions: Permissions) -> int:
    """A new file, still open."""
    fd = os.open(name, CREATE_FILE, 0o600, dir_fd=folder)
    try:
        permissions.apply(fd, permissions.mode)
        write_all(fd, content)
    except BaseException:  # closed, and raised again
        os.close(fd)
        raise
    return fd


def _settle(waiting: list[int], *, fsync: bool) -> None:
    """Sync and close these files."""
    while waiting:
        if fsync:
            os.fsync(waiting[-1])
        os.close(waiting.pop())


def read_file(folder: int, name: str) -> tuple[os.stat_result, bytes] | None:
    """Status and content of a regular file; None if there is none, or what is there is no regular file."""
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
    """Remove a file or folder that the daemon made beside a target. Raises Refused for any other."""
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
    """Remove a folder with its files and links. Fails if a folder is in it: the daemon made none."""
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
