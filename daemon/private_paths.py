"""Checks that other users cannot read, change or replace the files that belong to this process alone.

Others are all users but root and the one of this process. Members of its own primary group do not count as
others, so that a service may share a folder (mode 0770) with those who operate it.
"""

import errno
import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Final

from syncret.config.errors import Problem, Severity

_OPEN: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CONTAINER_MARKS: Final = ("/.dockerenv", "/run/.containerenv")


class NotPrivate(Exception):
    """Others could read or change the file; `hint` says what to do."""

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def open_private(path: str, *, create: bool = True) -> int:
    """Open a file for reading and writing, with mode 0600. Raises NotPrivate or OSError.

    A file that everyone may write to is refused, as any user may have changed it. Other permissions are
    removed: a restored backup is often readable, and the kubelet gives the group of an `fsGroup` access to
    every file of a volume at each start of a pod.
    """
    try:
        fd = os.open(path, _OPEN | (os.O_CREAT if create else 0), 0o600)
    except OSError as error:
        if error.errno != errno.ELOOP or not Path(path).is_symlink():
            raise
        raise NotPrivate(
            "is a symbolic link", hint=f"name the file that it leads to: {os.path.realpath(path)}"
        ) from None
    try:
        _make_private(fd, path)
    except BaseException:  # closed, and raised again
        os.close(fd)
        raise
    return fd


def _make_private(fd: int, path: str) -> None:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise NotPrivate("is not a regular file", hint="move it away, or name another file")
    if status.st_uid not in _trusted():
        raise NotPrivate(
            f"belongs to another user (uid {status.st_uid})",
            hint=f"move it away, or give it to the user that syncret runs as: chown {os.geteuid()} {path}",
        )
    mode = stat.S_IMODE(status.st_mode)
    if mode & stat.S_IWOTH:
        raise NotPrivate(
            f"may be written to by everyone (mode {mode:04o})",
            hint=f"check that its content is yours, and close it: chmod 600 {path}",
        )
    if mode & 0o077:
        try:
            os.fchmod(fd, 0o600)
        except PermissionError:  # root's file, and we are not root
            raise NotPrivate(
                f"may be read by others (mode {mode:04o})", hint=f"close it: chmod 600 {path}"
            ) from None


def check_folder(folder: Path) -> None:
    """Raise NotPrivate if others can replace what is in a folder. Raises OSError if it cannot be examined."""
    found = _exposed(folder)
    if found is not None:
        raise NotPrivate(found.message, hint=found.hint)


def first_exposed(path: str, *, owners: Collection[int | None] = ()) -> Problem | None:
    """A warning about the first folder on the way to a path, itself included, that others can write to.

    Args:
        path: a folder that exists; links in it are followed.
        owners: uids that are trusted, beside root and our own.
    """
    real = Path(os.path.realpath(path))
    for folder in (*reversed(real.parents), real):
        found = _exposed(folder, owners)
        if found is not None:
            return found
        if folder.stat().st_mode & 0o011 == 0:
            return None  # no one else gets any further
    return None


def _exposed(folder: Path, owners: Collection[int | None] = ()) -> Problem | None:
    status = folder.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid not in _trusted() and status.st_uid not in owners:
        uid = os.geteuid()
        return _warning(
            folder,
            f"belongs to another user (uid {status.st_uid})",
            f"give it to the user that syncret runs as (chown {uid} {folder})",
        )
    everyone, group = mode & stat.S_IWOTH, mode & stat.S_IWGRP and status.st_gid not in {0, os.getegid()}
    sticky = mode & stat.S_ISVTX  # then only its owner, root and we can rename and remove an entry
    if not (everyone or group) or sticky or _is_volume(folder, status):
        return None
    who, change = ("everyone", "o-w") if everyone else (f"group {status.st_gid}", "g-w")
    return _warning(folder, f"may be written to by {who} (mode {mode:04o})", f"chmod {change} {folder}")


def _warning(folder: Path, reason: str, remedy: str) -> Problem:
    return Problem(
        path="",
        message=f"the folder {folder} {reason}, so others can replace what is in it",
        hint=f"{remedy}, or choose another folder",
        severity=Severity.WARNING,
    )


def _trusted() -> set[int]:
    return {0, os.geteuid()}


def _is_volume(folder: Path, status: os.stat_result) -> bool:
    """Whether a folder is a volume of a container, such as an emptyDir, which has mode 0777.

    Only the containers that mount it reach it. On a host, a mount point of that mode is open to all users.
    """
    return status.st_uid == 0 and in_container() and folder.is_mount()


def in_container() -> bool:
    """Whether this process is in a container: one of a pod, or of an engine that leaves its mark."""
    return "KUBERNETES_SERVICE_HOST" in os.environ or any(Path(mark).exists() for mark in _CONTAINER_MARKS)
