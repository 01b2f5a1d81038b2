"""A progress line on a terminal; nothing in a pipe."""

import time
from types import TracebackType
from typing import Final, Self, TextIO

EVERY: Final = 0.1


class Progress:
    """Shows `done/total` on one line that is cleared at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0.0
        self._visible = stream.isatty()

    def __enter__(self) -> Self:
        return self

    def show(self, done: int, total: int) -> None:
        """So many objects of so many have been looked at."""
        now = time.monotonic()
        if self._visible and (now - self._shown >= EVERY or done == total):
            self._shown = now
            self._stream.write(f"\r\x1b[Ksyncing {done}/{total}")
            self._stream.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
