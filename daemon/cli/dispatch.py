"""Parses the command line and runs one command; the modules of the others are not imported."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from syncret.daemon.cli.exit_codes import UNUSABLE
from syncret.daemon.cli.interrupts import die_without_traceback, raise_keyboard_interrupt
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.streams import CannotPrint, replace_standard_streams
from syncret.daemon.fatal_signal import die_by

NEW_OBJECTS: Final = 10_000
"""The threshold of the garbage collector. Python's 700 cost a sixth of a sync: most objects stay in use."""


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
    options = parser().parse_args(arguments)
    command = import_module(f"syncret.daemon.cli.commands.{options.module}")
    if own_process:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()
        raise_keyboard_interrupt()
    code: int = command.run(options)
    return code
