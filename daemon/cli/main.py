"""The entry point: reads the command line and hands over to one command, importing nothing of the others."""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from syncret.daemon.cli.arguments import parser
from syncret.daemon.cli.exits import OK

NEW_OBJECTS: Final = 10_000
"""After so many, garbage is looked for. The usual 700 cost a sixth of a sync: most are there to stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Without arguments the process is ours alone."""
    ours = arguments is None
    if ours:  # what is imported stays: looking for garbage in it, now and at exit, is time lost
        gc.disable()
    options = parser().parse_args(arguments)
    command = import_module(f"syncret.daemon.cli.{options.module}")
    if ours:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()
    try:
        code: int = command.run(options)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has seen enough; Python would complain of it at exit
        return OK
    except KeyboardInterrupt:
        return 128 + 2
    return code
