"""Reads what a path leads to, within bounds: a file, or what another program writes into a pipe."""

import errno
import os
import select
import stat
from pathlib import Path
from typing import Final

from syncret.config.errors import Problem

PATIENCE: Final = 10.0
"""Seconds for which a pipe may have no writer: a shell's `<(command)` has one from the start."""

_PIECE: Final = 1 << 16


def read_bounded(path: str | Path, limit: int) -> bytes:
    """What stands there, at most so many bytes. Raises OSError, and ValueError for a name with a NUL.

    A pipe is read to its end, however long its writer takes; one that nobody opens to write is given up.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123  # opened so that nothing waits
        descriptor = stream.fileno()
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return _piped(descriptor, limit)
        os.set_blocking(descriptor, True)
        return stream.read(limit)


def what_it_is(mode: int) -> str:
    """The word for what is neither file nor folder."""
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def unreadable(error: OSError | ValueError, *, named: bool = True) -> Problem:
    """Why a path cannot be read, and what helps; one that was not `named` was found in a folder."""
    if isinstance(error, ValueError):
        return Problem(path="", message="cannot be read: the name has a NUL", hint="correct the name")
    message, hint = f"cannot be read: {error.strerror}", "repair or remove it"
    if isinstance(error, FileNotFoundError) and named:
        message, hint = "there is no such file or folder", "correct the path, or create it"
    elif isinstance(error, FileNotFoundError):
        hint = "correct or remove the link"
    elif isinstance(error, PermissionError):
        hint = "let the user that syncret runs as read it"
    elif isinstance(error, TimeoutError):
        message, hint = (
            "is a pipe that no process writes to",
            "start the process that writes to it, or name a file",
        )
    elif isinstance(error, IsADirectoryError):
        hint = "name a file"
    elif error.errno == errno.ENXIO:
        message, hint = "is a socket, not a file", "name a file"
    return Problem(path="", message=message, hint=hint)


def _piped(descriptor: int, limit: int) -> bytes:
    """What is written into a pipe. Raises TimeoutError where nobody has it open to write."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    pieces: list[bytes] = []
    while limit > 0:
        stirred = poll.poll(PATIENCE * 1000)
        try:
            piece = os.read(descriptor, min(limit, _PIECE))
        except BlockingIOError:  # somebody has it open, and takes their time
            continue
        if not piece:
            if not stirred:
                raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
            break
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)
