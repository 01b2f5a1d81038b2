"""Output for people: columns, ages such as `5m`, and a progress line if the output is a terminal."""

import sys
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Final, Self, TextIO

from syncret.config.visible import printable

EVERY: Final = 0.1
"""Seconds between two updates of the progress line."""

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "m"))
_TWICE: Final = 2
"""A unit is used from two of it on: 90s, then 2m; 47h, then 2d."""


class Progress:
    """Shows `done/total` on one line of a terminal, and clears the line at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0.0
        self._visible = stream.isatty()

    def __enter__(self) -> Self:
        return self

    def show(self, done: int, total: int) -> None:
        """Update the line."""
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


def print_columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns as wide as their cells; the last one is not padded."""
    lines = [tuple(head), *(tuple(map(printable, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def span(seconds: float) -> str:
    """A span of time in one unit: 90s, 5m, 26h, 3d."""
    for size, unit in _UNITS:
        if seconds >= _TWICE * size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


def age(moment: str | None, now: float) -> str:
    """How long ago a timestamp is."""
    return "-" if moment is None else span(max(0.0, now - _seconds(moment)))


def time_until(moment: str | None, now: float, *, never: str) -> str:
    """How long until a timestamp; `never` without one."""
    if moment is None:
        return never
    left = _seconds(moment) - now
    return f"in {span(left)}" if left > 0 else "now"


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
