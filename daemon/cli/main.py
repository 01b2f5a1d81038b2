"""The entry point. It imports almost nothing, so that Ctrl-C prints no traceback from the start."""

import os


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Without arguments the process runs nothing else."""
    if arguments is None:
        try:
            from syncret.daemon.cli.interrupts import die_without_traceback

            die_without_traceback()
        except KeyboardInterrupt:
            os._exit(130)
    from syncret.daemon.cli.dispatch import dispatch

    return dispatch(arguments)
