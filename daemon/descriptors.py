"""Lets this process open as many files as it may: stores have connections, many writes at once have files.

The usual soft limit, 1,024, is a relic of `select`. Programs that do not use it, as those in Go, raise it
themselves; systemd and container engines leave the hard limit high for that.
"""

import resource
from contextlib import suppress


def raise_limit() -> None:
    """Raise the soft limit to the hard one, where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # a sandbox may forbid it: then the limit is what it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
