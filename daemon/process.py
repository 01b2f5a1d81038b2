"""What this process asks of the operating system: a high limit of open files, and unused memory returned."""

import ctypes
import resource
from contextlib import suppress


def trim_memory() -> None:
    """Return unused heap pages, which glibc would keep: 5 MB after a first sync of ten thousand objects."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def raise_file_limit() -> None:
    """Raise the soft limit of open files to the hard one, where that is allowed.

    The usual soft limit, 1,024, exists for `select`. Programs that do not use it, as those in Go, raise it
    themselves; systemd and container engines leave the hard limit high for that.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # a sandbox may forbid it: then the limit is what it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
