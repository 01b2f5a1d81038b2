"""The file system: what is in a folder, whether it is the same one, and errors with what to do about them.

Two system calls that Python lacks: swapping two names at once (`renameat2` with RENAME_EXCHANGE), and when a
file or folder was made (`statx`).
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.output.names import TEMPORARY

OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
CREATE_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

_RENAME_EXCHANGE = 2
_LACKING = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


_AT_FDCWD: Final = -100
_STATX_BTIME: Final = 0x800
_STATX_SIZE: Final = 256
_MASK: Final = struct.Struct("=I")
_BIRTH: Final = struct.Struct("=qI")
_BIRTH_OFFSET: Final = 80


def _bound(
    name: str, *types: type[ctypes.c_int | ctypes.c_uint | ctypes.c_char_p]
) -> Callable[..., int] | None:
    """A system call; None if the C library is older than the call."""
    function: Any = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return None
    function.argtypes = types
    function.restype = ctypes.c_int
    bound: Callable[..., int] = function
    return bound


_renameat2 = _bound("renameat2", ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
_statx = _bound("statx", ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p)

FolderIdentity: TypeAlias = tuple[int, int, int]
"""Device, inode, and birth time in nanoseconds: 0 where the file system does not keep it."""


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """What tells one file or folder from all others."""
    return status.st_dev, status.st_ino


def folder_identity(path: str, status: os.stat_result | None = None) -> FolderIdentity:
    """The identity of what is at a path, links followed. Raises OSError. `status` spares a call if known.

    File systems give the inode number of a removed folder to the next one that is made, often at once: only
    the birth time tells the two apart.
    """
    status = status or Path(path).stat()
    return status.st_dev, status.st_ino, _birth_time(path)


def _birth_time(path: str) -> int:
    if _statx is None:
        return 0
    found = ctypes.create_string_buffer(_STATX_SIZE)
    if _statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, found) != 0:
        code = ctypes.get_errno()
        if code in (errno.ENOSYS, errno.EPERM):  # an old kernel, or a sandbox that does not know the call
            return 0
        raise OSError(code, os.strerror(code), path)
    if not _MASK.unpack_from(found)[0] & _STATX_BTIME:
        return 0
    seconds, nanoseconds = _BIRTH.unpack_from(found, _BIRTH_OFFSET)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def listed(fd: int) -> list[str]:
    """The names in an open folder."""
    return os.listdir(fd)


def write_all(fd: int, content: bytes) -> None:
    """Write every byte; the kernel may take fewer at a time."""
    written = os.write(fd, content)
    while written < len(content):
        written += os.write(fd, memoryview(content)[written:])


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two names inside an open folder; False where the kernel or the file system cannot.

    Both names exist before and after, and no reader ever finds either of them missing.
    """
    if _renameat2 is None:
        return False
    if _renameat2(folder, os.fsencode(one), folder, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _LACKING:
        return False
    raise OSError(code, os.strerror(code), one, None, other)


class ReadFailed(StorageUnavailable):
    """What is there cannot be told at the moment: that must not look as if nothing were there."""


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
    """The folder belongs to somebody else, who could change what is in it."""
    return StorageUnavailable(
        f"{path}: the folder belongs to another user (uid {owner})",
        hint=f"give it to the user that syncret runs as (chown {os.geteuid()}), or choose another folder",
    )


_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO that somebody put there must not hang us
_MAX_BYTES = 4 << 20  # of one file: more than any Secret may hold, so a longer one is not ours anyway


def names_in(folder: int, path: str) -> set[str]:
    """All names in a folder that may be replaced or removed: one that holds folders was not made by us."""
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

    Raises OSError where it cannot be told what is there.
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
