"""Limits and signal mask that this process started with, restored for the program that it runs."""

import errno
import os
import resource
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

_LIMITS: Final = (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE)
_IGNORED_BY_PYTHON: Final = (signal.SIGPIPE, signal.SIGXFSZ)
_STANDARD: Final = 2


class Inherited(Struct, frozen=True):
    """Limits and signal mask."""

    limits: Mapping[int, tuple[int, int]]
    mask: set[signal.Signals | int]

    @classmethod
    def now(cls) -> "Inherited":
        """Those of this process."""
        limits = {each: resource.getrlimit(each) for each in _LIMITS}
        return cls(limits, {*signal.pthread_sigmask(signal.SIG_BLOCK, ())})

    def restore(self) -> None:
        """Restore limits and signal mask, and the signals that Python ignores."""
        for each, limits in self.limits.items():
            resource.setrlimit(each, limits)
        for number in _IGNORED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)


def close_files_at_exec() -> None:
    """Leave the program no file but the three standard ones."""
    for entry in Path("/proc/self/fd").iterdir():
        if int(entry.name) > _STANDARD:
            _close_at_exec(int(entry.name))


def _close_at_exec(number: int) -> None:
    try:
        os.set_inheritable(number, False)  # noqa: FBT003  # takes no keywords
    except OSError as error:
        if error.errno != errno.EBADF:  # the one that listed them
            raise
