"""Errors that keep a program from being run, with their exit codes, which `env` and `timeout` use, too."""

import errno
from collections.abc import Mapping, Sequence
from typing import Final

NOT_STARTED: Final = 125
"""An error of syncret kept the program from being started."""
NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127


class NotRun(Exception):
    """The program is not run."""

    def __init__(self, code: int, message: object, hint: str = "") -> None:
        super().__init__(str(message))
        self.code = code
        self.hint = hint


def refused_by_kernel(error: OSError, program: Sequence[str], environment: Mapping[bytes, bytes]) -> NotRun:
    """Why the kernel did not execute the program; names sizes, and no value."""
    if isinstance(error, FileNotFoundError):
        return NotRun(NOT_FOUND, f"{program[0]}: there is no such program")
    if error.errno == errno.E2BIG:
        return NotRun(NOT_STARTED, _too_big(environment), "use --files DIR for large values")
    return NotRun(NOT_EXECUTABLE, f"{program[0]}: {error.strerror}")


def _too_big(environment: Mapping[bytes, bytes]) -> str:
    size = sum(len(name) + len(value) + 2 for name, value in environment.items())
    largest = max(environment, key=lambda name: len(environment[name]))
    return (
        f"arguments and variables are larger than this system takes: the variables have {size:,} bytes, "
        f"{largest.decode(errors='replace')} alone {len(environment[largest]):,}"
    )
