"""What this process asks of the operating system: many open files, private memory, unused memory returned."""

import ctypes
import resource
from contextlib import suppress
from typing import Final

_PR_SET_DUMPABLE: Final = 4
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BLOCK: Final = 128 * 1024


def trim_memory() -> None:
    """Return unused heap pages, which glibc would keep: 5 MB after a first sync of ten thousand objects."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def return_large_blocks() -> None:
    """Have each large block of memory returned when it is freed, as glibc does only for the first ones.

    It raises the size of what it returns with each block that is freed: after a few responses of 8 MiB, 60 MB
    of unused heap stay.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def raise_file_limit() -> None:
    """Raise the soft limit of open files to the hard one, where that is allowed.

    The usual soft limit, 1,024, exists for `select`. Programs that do not use it, as those in Go, raise it
    themselves; systemd and container engines leave the hard limit high for that.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # a sandbox may forbid it: then the limit is what it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def keep_memory_private() -> None:
    """Have the kernel write no core file, and let no other process of this user look into the memory.

    Both would hold secret values. Only the soft limit is lowered: who debugs can raise it again (`prlimit`),
    and look as root. Worker processes inherit both.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    with suppress(ValueError, OSError):  # a sandbox may forbid it; the next call has the same effect
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
