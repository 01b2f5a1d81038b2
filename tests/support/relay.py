"""Stands between a client and a server: passes bytes on until it is told to be away."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

_PIECE: Final = 65536


class Relay:
    """A port of loopback that leads to another one."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.is_away = False
        """Whether connections end at once."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def goes_away(self) -> None:
        """End what is open, and let nothing through."""
        self.is_away = True
        self._end_all()

    def comes_back(self) -> None:
        """Let connections through again."""
        self.is_away = False

    def close(self) -> None:
        """Listen no longer."""
        self._listener.close()
        self._end_all()

    def _end_all(self) -> None:
        with self._lock:
            ending, self._open = self._open, set()
        for each in ending:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                here, _ = self._listener.accept()
                if self.is_away:
                    here.close()
                    continue
                there = socket.create_connection(("127.0.0.1", self._to))
                with self._lock:
                    self._open |= {here, there}
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=_pass_on, args=pair, daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # either end is gone
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def relay(port: int) -> Generator[Relay, None, None]:
    """A relay to a port of this machine, for as long as the block lasts."""
    made = Relay(port)
    try:
        yield made
    finally:
        made.close()
