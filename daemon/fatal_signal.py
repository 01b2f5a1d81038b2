"""Ends this process by a signal, so that the parent process sees in the wait status which one it was.

A shell leaves its loop only for a command that died of Ctrl-C, and systemd takes a death by SIGTERM, but no
exit code, for a clean exit. A shell shows both as 128 plus the signal's number: 130, 143.
"""

import os
import signal


def die_by(number: int, frame: object = None) -> None:
    """Die by a signal; usable as its handler. Nothing is cleaned up, nothing more is printed."""
    del frame
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    signal.raise_signal(number)
    os._exit(128 + number)  # the first process of a container does not die of signals
