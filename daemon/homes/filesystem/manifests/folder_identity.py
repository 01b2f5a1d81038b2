"""Tells whether the folder at a path is still the same one: device, inode, and when that inode was made.

File systems give the inode number of a removed folder to the next one that is made, often at once. Only the
birth time tells the two apart, and Python's `os.stat` does not have it.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

FolderIdentity: TypeAlias = tuple[int, int, int]
"""Device, inode, and birth time in nanoseconds: 0 where the file system does not keep it."""

_AT_FDCWD: Final = -100
_STATX_BTIME: Final = 0x800
_STATX_SIZE: Final = 256
_MASK: Final = struct.Struct("=I")
_BIRTH: Final = struct.Struct("=qI")
_BIRTH_OFFSET: Final = 80


def _bound() -> Callable[[int, bytes, int, int, ctypes.Array[ctypes.c_char]], int] | None:
    function = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    if function is None:  # a C library older than the call
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p)
    function.restype = ctypes.c_int
    bound: Callable[[int, bytes, int, int, ctypes.Array[ctypes.c_char]], int] = function
    return bound


_statx = _bound()


def folder_identity(path: str, status: os.stat_result | None = None) -> FolderIdentity:
    """The identity of what is at a path, links followed. Raises OSError. `status` spares a call if known."""
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
