"""Standard streams that work even if they are closed, a pipe without a reader, or on a full disk.

The encoding is UTF-8 whatever the locale says: programs read it, and names may be in any language.
"""

import io
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STREAMS: Final = ("stdin", "stdout", "stderr")


class CannotPrint(Exception):
    """Standard output cannot be written to, such as a full disk. The work done before is not undone."""


class _Output(io.FileIO):
    """A file descriptor of an output. If a pipe has no reader any more, the rest is discarded silently.

    Output on stdout precedes messages about it on stderr where both go to one place. A failed write is
    reported once: Python writes what is left when the stream is closed.
    """

    _reported = False

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
            if self._reported or self._is_stderr:  # there is no place left to report it
                return memoryview(data).nbytes
            self._reported = True
            raise CannotPrint(error.strerror) from None


def replace_standard_streams() -> None:
    """Replace the streams of this process. A closed one becomes /dev/null: no file may take its number."""
    for number, name in enumerate(_STREAMS):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
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
