"""The entry point: reads the command line and hands over to one command, importing nothing of the others."""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from syncret.daemon.cli.arguments import parser
from syncret.daemon.cli.exits import UNUSABLE
from syncret.daemon.cli.streams import CannotPrint, take_over

NEW_OBJECTS: Final = 10_000
"""After so many, garbage is looked for. The usual 700 cost a sixth of a sync: most are there to stay."""


def main(arguments: Sequence[str] | None = None) -> int:
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
    except CannotPrint as error:
        sys.stderr.write(f"syncret: cannot print: {error} (give the output a place that can take it)\n")
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # what is left goes nowhere
        return UNUSABLE
    except KeyboardInterrupt:
        return 128 + 2
    return code


def _run(arguments: Sequence[str] | None, *, ours: bool) -> int:
    options = parser().parse_args(arguments)
    command = import_module(f"syncret.daemon.cli.{options.module}")
    if ours:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()
    code: int = command.run(options)
    return code
