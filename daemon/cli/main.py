"""The entry point. It imports next to nothing by itself: its first act is to make Ctrl-C quiet."""

import os


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Without arguments the process is ours alone."""
    if arguments is None:
        try:
            from syncret.daemon.cli.interrupts import quiet

            quiet()
        except KeyboardInterrupt:
            os._exit(130)
    from syncret.daemon.cli.dispatch import dispatch

    return dispatch(arguments)
