"""Notifies systemd: readiness, status, watchdog, reloading, stopping. Does nothing without systemd."""

import os
import socket
import time
from array import array
from collections.abc import Mapping
from typing import Self


class Notifier:
    """Sends `sd_notify` messages to the socket that systemd names in the environment."""

    def __init__(self, address: str = "", watchdog: float = 0.0) -> None:
        """`watchdog` is systemd's watchdog interval in seconds; 0: no watchdog."""
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog = watchdog
        self._owes_ready = False
        """Whether READY=1 has not been received yet: the one message that systemd waits for."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """The notifier for the socket and watchdog that systemd set in the environment."""
        microseconds = environ.get("WATCHDOG_USEC", "")
        watchdog = int(microseconds) / 1e6 if microseconds.isdecimal() else 0.0
        meant_for = environ.get("WATCHDOG_PID")
        ours = meant_for is None or meant_for == str(os.getpid())
        return cls(environ.get("NOTIFY_SOCKET", ""), watchdog if ours else 0.0)

    def ready(self, status: str) -> None:
        """The first pass is done, or a reload."""
        self._owes_ready = True
        self.status(status)

    def status(self, status: str) -> None:
        """One line for `systemctl status`."""
        ready = "READY=1\n" if self._owes_ready else ""
        if self._send(f"{ready}STATUS={_line(status)}"):
            self._owes_ready = False

    def alive(self) -> None:
        """The event loop runs."""
        self._send("WATCHDOG=1")

    def reloading(self) -> None:
        """A reload has begun; `ready` follows."""
        self._owes_ready = False
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The drain begins."""
        self._send("STOPPING=1")

    def keep(self, name: str, fd: int) -> None:
        """Have systemd keep a descriptor, and pass it to the next process if this one dies."""
        self._send(f"FDSTORE=1\nFDNAME={name}", fd)

    def forget(self, name: str) -> None:
        """Have systemd close the descriptor that it keeps under this name."""
        self._send(f"FDSTOREREMOVE=1\nFDNAME={name}")

    def _send(self, message: str, *fds: int) -> bool:
        """Whether systemd received it. Never waits, not even if systemd restarts or its queue is full."""
        if not self._address:
            return False
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))] if fds else []
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(0)
            try:
                sender.sendmsg([message.encode()], passed, 0, self._address)
            except OSError:
                return False
        return True


def _line(text: str) -> str:
    return " ".join(text.split())
