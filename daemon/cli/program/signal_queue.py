"""Receives the signals of this process with their sender, which handlers of Python do not get.

Whether the terminal sent a signal matters: it sent the same to every process of its foreground group.
"""

import asyncio
import ctypes
import os
import signal
import struct
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

_NOT_FORWARDED: Final = frozenset(
    {
        signal.SIGKILL,
        signal.SIGSTOP,
        signal.SIGTTIN,  # the terminal stops a background process that uses it
        signal.SIGTTOU,
        *(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU),  # of what this process does itself
        *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT),
        signal.SIGSYS,
    }
)
TAKEN: Final = frozenset(signal.valid_signals()) - _NOT_FORWARDED
"""Every signal that others send, and SIGCHLD."""

_HEAD: Final = struct.Struct("=Iii")
"""Of signalfd_siginfo: number, errno, code."""
_SIZE: Final = 128
_BY_KERNEL: Final = 0x80
_FLAGS: Final = os.O_NONBLOCK | os.O_CLOEXEC


class Arrived(NamedTuple):
    """A signal."""

    number: int
    is_from_terminal: bool


def block_signals() -> None:
    """Block signals until a SignalQueue takes them; threads and processes started later inherit that."""
    signal.pthread_sigmask(signal.SIG_BLOCK, TAKEN)


class SignalQueue:
    """Calls back for each signal, inside a running loop, until the block is left. They must be blocked."""

    def __init__(self, on_signal: Callable[[Arrived], None]) -> None:
        self._on_signal = on_signal

    def __enter__(self) -> Self:
        self._fd = _signal_file()
        asyncio.get_running_loop().add_reader(self._fd, self._read)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)

    def _read(self) -> None:
        try:
            content = os.read(self._fd, _SIZE)
        except BlockingIOError:
            return
        number, _, code = _HEAD.unpack_from(content)
        self._on_signal(Arrived(number, code == _BY_KERNEL))


def _signal_file() -> int:
    """A descriptor from which the signals that wait are read. Raises OSError."""
    libc: Any = ctypes.CDLL(None, use_errno=True)
    chosen = ctypes.create_string_buffer(_SIZE)
    libc.sigemptyset(chosen)
    for number in TAKEN:
        libc.sigaddset(chosen, int(number))
    fd: int = libc.signalfd(-1, chosen, _FLAGS)
    if fd < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return fd
