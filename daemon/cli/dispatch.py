"""Parses the command line and runs one command, with standard streams that work whatever they are.

The modules of other commands are not imported. A stream may be closed, a pipe without a reader, or on a full
disk. The encoding is UTF-8 whatever the locale says: programs read it, and names may be in any language.
"""

import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, TextIO

from syncret.daemon.cli.exit_codes import UNUSABLE
from syncret.daemon.cli.interrupts import die_without_traceback, raise_keyboard_interrupt
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.fatal_signal import die_by

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

COMPLETE: Final = "__complete"
"""What completion scripts call; no command for people."""

_STREAMS: Final = ("stdin", "stdout", "stderr")
NEW_OBJECTS: Final = 10_000
"""The threshold of the garbage collector. Python's 700 cost a sixth of a sync: most objects stay in use."""

_YOUNG_PASSES: Final = 10
"""Passes over new objects for one over those that outlived them: 500,000 hold the event loop for 200 ms."""

_OLDER_PASSES: Final = 50
"""Those passes for one over all objects, of which a first sync leaves nearly none as garbage."""


def dispatch(arguments: Sequence[str] | None) -> int:
    """Run one command and return its exit code. Without arguments the process runs nothing else."""
    own_process = arguments is None
    if own_process:  # imported modules are never garbage: collecting now and at exit is lost time
        gc.disable()
        replace_standard_streams()
    try:
        try:
            code = _run(arguments, own_process=own_process)
        finally:  # argparse exits by itself after --help
            sys.stdout.flush()
        if own_process:
            die_without_traceback()
            gc.freeze()  # what is still in use ends with the process
    except CannotPrint as error:
        sys.stderr.write(f"syncret: cannot print: {error} (give the output a place that can take it)\n")
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # discards the rest
        return UNUSABLE
    except KeyboardInterrupt:
        if own_process:
            die_by(signal.SIGINT)
        raise
    return code


def _run(arguments: Sequence[str] | None, *, own_process: bool) -> int:
    words = sys.argv[1:] if arguments is None else [*arguments]
    if words[:1] == [COMPLETE]:
        from syncret.daemon.cli.completion_words import complete  # asks the daemon

        return complete(words[1:])
    options = parser(words[0] if words else "").parse_args(words)
    command = import_module(f"syncret.daemon.cli.commands.{options.module}")
    if own_process:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS, _YOUNG_PASSES, _OLDER_PASSES)
        gc.enable()
        raise_keyboard_interrupt()
    code: int = command.run(options)
    return code


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
