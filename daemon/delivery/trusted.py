"""Checks that no other user can write files that decide what runs: manifests, programs, pid files.

A user who can write to such a file, or to a folder above it, could run any command as the daemon.
"""

import errno
import os
import stat
from pathlib import Path

from syncret.daemon.delivery.paths import Refused, Trust, opened_folder

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_SHARED = stat.S_IWGRP | stat.S_IWOTH


def check_trusted(path: str) -> None:
    """Raise Refused unless only root and the daemon can write the file and the folders above it."""
    os.close(_opened(path))


def check_manifest(path: str, *, in_container: bool) -> None:
    """As `check_trusted`, of a manifest. In a container a read-only mount is trusted, links included."""
    if not (in_container and _is_mounted_read_only(path)):
        check_trusted(path)


def read_trusted(path: str, most: int) -> bytes:
    """The content of such a file. Raises Refused, and OSError where it cannot be read."""
    fd = _opened(path)
    try:
        return os.read(fd, most)
    finally:
        os.close(fd)


def _is_mounted_read_only(path: str) -> bool:
    """Whether file and folder are on one read-only mount, so that no process in this container can write."""
    real, folder = Path(path).resolve(), Path(path).parent
    same = real.stat().st_dev == folder.stat().st_dev
    return same and bool(os.statvfs(real).f_flag & os.ST_RDONLY)


def _opened(path: str) -> int:
    trust = Trust.of_process()
    *way, name = str(Path(path).absolute()).strip("/").split("/")
    with opened_folder(way, trust) as folder:
        try:
            fd = os.open(name, _OPEN, dir_fd=folder)
        except OSError as error:
            hint = "make it a regular file"
            if error.errno == errno.ELOOP:
                hint = f"no link is followed: name what it leads to, {Path(path).resolve()}"
            raise Refused(f"{path} cannot be used: {error.strerror}", hint) from None
    try:
        _check(path, os.fstat(fd), trust)
    except BaseException:  # closed, and raised again
        os.close(fd)
        raise
    return fd


def _check(path: str, status: os.stat_result, trust: Trust) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused(f"{path} is no regular file", "name a file")
    if status.st_uid not in trust.owners:
        raise Refused(f"{path} belongs to uid {status.st_uid}", f"chown root {path}")
    if status.st_mode & _SHARED:
        who = "everybody" if status.st_mode & stat.S_IWOTH else f"group {status.st_gid}"
        raise Refused(f"{path} is writable by {who}", f"chmod go-w {path}")


def check_trusted_folder(path: str) -> None:
    """As `check_trusted`, of the folder that the path is in."""
    *way, _ = str(Path(path).absolute()).strip("/").split("/")
    with opened_folder(way, Trust.of_process()):
        pass
