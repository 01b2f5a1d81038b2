"""System calls that Python lacks: conditional renames, birth times, mount points.

Also the flags that open files and folders, and their identities.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
CREATE_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2
_LACKING = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


_AT_FDCWD: Final = -100
_AT_SYMLINK_NOFOLLOW: Final = 0x100
_AT_EMPTY_PATH: Final = 0x1000
_STATX_BTIME: Final = 0x800
_STATX_SIZE: Final = 256
_MASK: Final = struct.Struct("=I")
_BIRTH: Final = struct.Struct("=qI")
_BIRTH_OFFSET: Final = 80
_ATTRIBUTES: Final = struct.Struct("=Q")
_ATTRIBUTES_OFFSET: Final = 8
_KNOWN_ATTRIBUTES_OFFSET: Final = 56
_MOUNT_ROOT: Final = 0x2000


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
    """The identity of a file or folder: device and inode."""
    return status.st_dev, status.st_ino


def folder_identity(path: str, status: os.stat_result | None = None) -> FolderIdentity:
    """The identity of what is at a path, links followed. Raises OSError. `status` saves a call if known.

    File systems often give the inode number of a removed folder to the next one: only the birth time differs.
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
    return _renamed(folder, one, other, _RENAME_EXCHANGE)


def rename_new(folder: int, name: str, new: str) -> bool:
    """Rename to a name that must not exist; False where the kernel or the file system cannot ensure that.

    Raises FileExistsError.
    """
    return _renamed(folder, name, new, _RENAME_NOREPLACE)


def is_mount_root(folder: int, name: str = "") -> bool:
    """Whether something is mounted there: at a name in an open folder, or at the folder itself."""
    if _statx is not None:
        found = ctypes.create_string_buffer(_STATX_SIZE)
        flags = _AT_SYMLINK_NOFOLLOW if name else _AT_EMPTY_PATH
        if _statx(folder, os.fsencode(name), flags, 0, found) == 0:
            if _ATTRIBUTES.unpack_from(found, _KNOWN_ATTRIBUTES_OFFSET)[0] & _MOUNT_ROOT:
                return bool(_ATTRIBUTES.unpack_from(found, _ATTRIBUTES_OFFSET)[0] & _MOUNT_ROOT)
        elif ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), name)
    if name:  # an older kernel: another device is another file system
        inner, outer = os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(folder)
    else:
        inner, outer = os.fstat(folder), os.stat("..", dir_fd=folder)
    return inner.st_dev != outer.st_dev or inner.st_ino == outer.st_ino


def _renamed(folder: int, one: str, other: str, flag: int) -> bool:
    if _renameat2 is None:
        return False
    if _renameat2(folder, os.fsencode(one), folder, os.fsencode(other), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _LACKING:
        return False
    raise OSError(code, os.strerror(code), one, None, other)


def linked(old: int, new: int, name: str) -> bool:
    """Hard link a file of one folder under its name in another; False where it must be written again."""
    try:
        os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
    except OSError:  # no links here, or too many
        return False
    return True
