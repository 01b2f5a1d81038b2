"""Reads the command line and hands over to one command, importing nothing of the others."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from syncret.daemon.cli.exit_codes import UNUSABLE
from syncret.daemon.cli.interrupts import quiet, raised
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.streams import CannotPrint, take_over
from syncret.daemon.fatal_signal import die_by

NEW_OBJECTS: Final = 10_000
"""After so many, garbage is looked for. The usual 700 cost a sixth of a sync: most are there to stay."""


def dispatch(arguments: Sequence[str] | None) -> int:
    """Run one command and return its exit code. Without arguments the process is ours alone."""
    ours = arguments is None
    if ours:  # what is imported stays: looking for garbage in it, now and at exit, is time lost
        gc.disable()
        take_over()
    try:
        try:
            code = _run(arguments, ours=ours)
        finally:  # argparse exits by itself after --help
            sys.stdout.flush()
        if ours:
            quiet()
    except CannotPrint as error:
        sys.stderr.write(f"syncret: cannot print: {error} (give the output a place that can take it)\n")
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # what is left goes nowhere
        return UNUSABLE
    except KeyboardInterrupt:
        if ours:
            die_by(signal.SIGINT)
        raise
    return code


def _run(arguments: Sequence[str] | None, *, ours: bool) -> int:
    options = parser().parse_args(arguments)
    command = import_module(f"syncret.daemon.cli.commands.{options.module}")
    if ours:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()
        raised()
    code: int = command.run(options)
    return code
