"""The one system call that Python lacks: swapping two names at once (`renameat2` with RENAME_EXCHANGE)."""

import ctypes
import errno
import os
from collections.abc import Callable

_RENAME_EXCHANGE = 2
_LACKING = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


def _bound() -> Callable[[int, bytes, int, bytes, int], int] | None:
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:  # a C library older than the call
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    function.restype = ctypes.c_int
    bound: Callable[[int, bytes, int, bytes, int], int] = function
    return bound


_renameat2 = _bound()


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
