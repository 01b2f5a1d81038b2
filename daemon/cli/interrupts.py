"""Ctrl-C and SIGTERM outside of a command's work: while it is imported, and after it has finished."""

import signal

from syncret.daemon.fatal_signal import die_by


def die_without_traceback() -> None:
    """From now on both signals end the process without a traceback. An ignored signal stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, die_by)


def raise_keyboard_interrupt() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, so that a command can clean up."""
    if signal.getsignal(signal.SIGINT) is die_by:
        signal.signal(signal.SIGINT, signal.default_int_handler)
