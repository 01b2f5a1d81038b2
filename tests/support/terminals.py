"""A pseudo-terminal of a given width: what a program writes to it, as a person's terminal would get it."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, TextIO

COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
CLEARED: Final = re.compile(r"(?m)^.*\r\x1b\[K")


class Terminal:
    """One terminal. `stream` is what a program writes to; `text` what has arrived once it is closed."""

    def __init__(self, columns: int) -> None:
        self._screen, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream: TextIO = os.fdopen(side, "w", encoding="utf-8", errors="backslashreplace")
        self.columns = columns
        self._read: list[bytes] = []
        self._reader = threading.Thread(target=self._follow)
        self._reader.start()

    def _follow(self) -> None:
        while True:
            try:
                piece = os.read(self._screen, 1 << 16)
            except OSError:  # the last writer has gone
                return
            if not piece:
                return
            self._read.append(piece)

    def close(self) -> None:
        self.stream.close()
        self._reader.join()
        os.close(self._screen)

    @property
    def raw(self) -> str:
        """All that has arrived, with colours and progress."""
        return b"".join(self._read).decode().replace("\r\n", "\n")

    @property
    def text(self) -> str:
        """What a person reads in the end: no colours, and no progress that was cleared again."""
        return COLOURS.sub("", CLEARED.sub("", self.raw))


@contextmanager
def terminal(columns: int) -> Generator[Terminal, None, None]:
    """A terminal that is read to the end when the block is left."""
    opened = Terminal(columns)
    try:
        yield opened
    finally:
        opened.close()
