"""Output for people: width and colours of the terminal, ages such as `5m`, and a progress line."""

import os
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self, TextIO

from syncret.config.durations import span
from syncret.config.visible import has_colours, has_cursor, printable
from syncret.daemon.cli.text_width import width_of, wrap

USUAL: Final = 80
NARROWEST: Final = 30
"""Columns of a terminal of unknown width, and the fewest that a table is fitted to."""

EVERY: Final = 0.1
"""Seconds between two updates of the progress line."""


class Progress:
    """Shows `done/total` on one line of a terminal, if the stream is one, and clears the line at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0.0
        self._visible = has_cursor(stream)

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
        self.clear()

    def clear(self) -> None:
        """Remove the line, so that another one can take its place."""
        if self._shown:
            self._shown = 0.0
            self._stream.write("\r\x1b[K")
            self._stream.flush()


class Style:
    """Colours that mean something, as the parameters of their escape sequence."""

    PLAIN: Final = ""
    GOOD: Final = "32"
    DOUBT: Final = "33"
    BAD: Final = "1;31"


def paint(stream: TextIO, text: str, style: str) -> str:
    """The text in that colour, if the stream shows colours. It must be printable."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text and has_colours(stream) else text


def terminal_width(stream: TextIO) -> int | None:
    """The columns of the terminal; None if it is none: output for programs is never cut or wrapped."""
    if not stream.isatty():
        return None
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return max(NARROWEST, int(wanted))
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        columns = 0
    return max(NARROWEST, columns or USUAL)  # 0: a terminal whose size is not set


def hanging(text: str, width: int, first: str = "", rest: str = "  ") -> list[str]:
    """Lines of at most so many columns. The first one begins with `first`, the others with `rest`."""
    if len(first) + width_of(text) <= width:
        return [first + text]
    head, *others = wrap(text, width - max(len(first), len(rest)))
    return [first + head, *(rest + line for line in others)]


def print_text(stream: TextIO, text: str, first: str = "", rest: str = "  ") -> None:
    """Print one line of printable text; on a terminal it is wrapped."""
    width = terminal_width(stream)
    lines = [first + text] if width is None else hanging(text, width, first, rest)
    stream.writelines(f"{line}\n" for line in lines)


def print_error(error: object, hint: str = "") -> None:
    """Print an error on stderr, with its remedy."""
    print_text(sys.stderr, printable(f"syncret: {error}" + (f" ({hint})" if hint else "")))


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


def cache_line(cache: Mapping[str, Any]) -> str:
    """A line about the offline cache."""
    if cache["problem"]:
        return f"no cache: {cache['problem']}"
    parts = [f"cache {cache['entries']} values", f"{cache['served']} served"]
    parts += [f"{cache[name]} {name}" for name in ("restored", "rejected") if cache[name]]
    oldest = cache["oldestSeconds"]
    return ", ".join(parts if oldest is None else [*parts, f"oldest {span(oldest)}"])
