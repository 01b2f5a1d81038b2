"""The socket on which systemd hears from a service."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def notify_socket(path: Path | str) -> Generator[socket.socket, None, None]:
    """What `NOTIFY_SOCKET` names: a path, or a name that begins with a NUL."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(0)
        yield listener


def messages(listener: socket.socket) -> list[str]:
    """What a service has sent since the last call."""
    found: list[str] = []
    while True:
        try:
            found.append(listener.recv(4096).decode())
        except BlockingIOError:
            return found
