"""Lists and reads folders of the output folder, and turns errors of the file system into ones with a hint."""

import errno
import os
import stat

from syncret.daemon.files.syscalls import listed
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.output.names import TEMPORARY


class ReadFailed(StorageUnavailable):
    """The files cannot be read now. They must not count as missing."""


_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE})
_REMEDIES = {
    errno.ENOSPC: (
        "no space is left on the file system",
        "free some space; the last complete set stays in place",
    ),
    errno.EDQUOT: ("the disk quota is used up", "raise the quota; the last complete set stays in place"),
    errno.EFBIG: (
        "a file would be larger than this process may write",
        "raise the limit (LimitFSIZE=, ulimit -f)",
    ),
    errno.EROFS: ("the file system is read-only", "mount it writable, or choose another output folder"),
    errno.EACCES: ("permission denied", "let the user that syncret runs as write there"),
    errno.EPERM: ("not permitted", "let the user that syncret runs as write there and give files away"),
    errno.ELOOP: ("there is a symbolic link where a folder should be", "remove the link"),
    errno.ENOTDIR: ("something that is not a folder is in the way", "move it away"),
    errno.EISDIR: ("there is a folder where a file should be", "move it away"),
    errno.ENAMETOOLONG: ("the name is too long for this file system", "choose a shorter name"),
    errno.EMFILE: ("too many files are open", "raise the limit (LimitNOFILE=, ulimit -n)"),
    errno.ENFILE: ("too many files are open on this machine", "raise the limit (sysctl fs.file-max)"),
    errno.EIO: ("the disk failed", "look at the kernel's log, and check the disk"),
}


def unavailable(error: OSError, path: str) -> StorageUnavailable:
    """The error of a system call, with what to do about it."""
    message, hint = _REMEDIES.get(
        error.errno or 0, (os.strerror(error.errno or errno.EIO), "check the output folder")
    )
    return (ReadFailed if is_transient(error) else StorageUnavailable)(f"{path}: {message}", hint=hint)


def is_transient(error: OSError) -> bool:
    """Whether an error says nothing about the file: the process, the machine or the disk is in trouble."""
    return error.errno in _PASSING


def foreign_owner(path: str, owner: int) -> StorageUnavailable:
    """The error for a folder of another user, who could change its content."""
    return StorageUnavailable(
        f"{path}: the folder belongs to another user (uid {owner})",
        hint=f"give it to the user that syncret runs as (chown {os.geteuid()}), or choose another folder",
    )


_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO must not block
_MAX_BYTES = 4 << 20  # of one file: more than any Secret may hold, so a longer one is not ours anyway


def names_in(folder: int, path: str) -> set[str]:
    """All names in a folder that may be replaced or removed; an error if it holds folders: it is not ours."""
    with os.scandir(folder) as entries:
        names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    if any(names.values()):
        raise StorageUnavailable(
            f"{path}: the folder holds other folders, so syncret did not make it",
            hint="move it away, or choose another output folder",
        )
    return set(names)


def files_in(folder: int) -> dict[str, tuple[os.stat_result, bytes]]:
    """The regular files of a folder; links, devices and pipes are passed over, never followed.

    Raises OSError if the folder cannot be examined.
    """
    files: dict[str, tuple[os.stat_result, bytes]] = {}
    for name in listed(folder):
        if name.startswith(TEMPORARY):
            continue
        try:
            fd = os.open(name, _READ_FILE, dir_fd=folder)
        except OSError as error:
            if is_transient(error):
                raise
            continue  # a link, a socket, or gone since: as good as no file
        try:
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode):
                files[name] = (status, _read(fd, status.st_size))
        finally:
            os.close(fd)
    return files


def _read(fd: int, size: int) -> bytes:
    content = os.read(fd, min(size, _MAX_BYTES) + 1)
    while (
        0 < len(content) < size
        and len(content) < _MAX_BYTES
        and (more := os.read(fd, size - len(content) + 1))
    ):
        content += more
    return content
