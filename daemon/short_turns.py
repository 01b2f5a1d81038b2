"""Returns the global interpreter lock to the event loop soon while other threads compute.

A thread keeps the lock for five milliseconds while others wait for it, and the loop releases it at each
system call: a hundred calls would take half a second.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_SHORT: Final = 0.0005
_USUAL: Final = sys.getswitchinterval()
"""Seconds that a thread may keep Python's lock while another one wants it."""

_users: Final[list[object]] = []


@contextmanager
def short_turns() -> Generator[None]:
    """Within these blocks, of which there may be several at a time, threads take short turns."""
    user = object()
    _users.append(user)
    sys.setswitchinterval(_SHORT)
    try:
        yield
    finally:
        _users.remove(user)
        if not _users:
            sys.setswitchinterval(_USUAL)
