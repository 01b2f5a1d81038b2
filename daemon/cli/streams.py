"""Standard streams that hold whatever the caller made of them: closed, a pipe nobody reads, a full disk.

What is printed is UTF-8 whatever the locale says: machines read it, and names come from all over the world.
"""

import io
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STREAMS: Final = ("stdin", "stdout", "stderr")


class CannotPrint(Exception):
    """The output goes to something that takes no more; what was done before that is done."""


class _Output(io.FileIO):
    """A descriptor to write to. Where nobody reads on, the rest is passed over; the exit code counts.

    What was printed comes before what is said of it, where both go to one place. That a write failed is told
    once: Python itself writes what is left when the stream goes.
    """

    _told = False

    @property
    def _is_stderr(self) -> bool:
        return self.fileno() == _STREAMS.index("stderr")

    def write(self, data: "ReadableBuffer", /) -> int:
        if self._is_stderr:
            sys.stdout.flush()
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes
        except OSError as error:
            if self._told or self._is_stderr:  # nobody is left who could be told
                return memoryview(data).nbytes
            self._told = True
            raise CannotPrint(error.strerror) from None


def take_over() -> None:
    """Make the streams of this process sound. A closed one leads nowhere, lest a file takes its number."""
    for number, name in enumerate(_STREAMS):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
        if number:
            output = _Output(number, "w", closefd=False)
            line_by_line = number == _STREAMS.index("stderr") or output.isatty()
            buffer = io.BufferedWriter(output)
            text = io.TextIOWrapper(
                buffer, encoding="utf-8", errors="backslashreplace", line_buffering=line_by_line
            )
            setattr(sys, name, text)
        elif stream is None:
            sys.stdin = open(number, encoding="utf-8", closefd=False)  # noqa: SIM115  # to the end
