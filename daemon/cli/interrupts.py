"""Ctrl-C and SIGTERM outside of a command's own work: while it is imported, and once it is done."""

import signal

from syncret.daemon.fatal_signal import die_by


def quiet() -> None:
    """From now on both end the process without a traceback. One that the caller has ignored stays so."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, die_by)


def raised() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, so that a command can clean up behind itself."""
    if signal.getsignal(signal.SIGINT) is die_by:
        signal.signal(signal.SIGINT, signal.default_int_handler)
