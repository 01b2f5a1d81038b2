"""Lets this process open as many files as it may: stores have connections, many writes at once have files.

The usual soft limit, 1,024, is a relic of `select`. Programs that do not use it, as those in Go, raise it
themselves; systemd and container engines leave the hard limit high for that.

Returns memory to the system that the first pass needed for a moment and that glibc would keep for ever.
"""

import ctypes
import resource
from contextlib import suppress


def trim_memory() -> None:
    """Let go of unused pages, where the C library can: 5 MB after a first sync of ten thousand objects."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def raise_file_limit() -> None:
    """Raise the soft limit to the hard one, where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # a sandbox may forbid it: then the limit is what it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
