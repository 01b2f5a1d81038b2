"""Tables for people, fitted to the terminal; where the output is none, one whole line for each row.

On a terminal the flexible columns are cut to fit, the widest first. The message, which is the last column, is
wrapped in what is left; where that is too little, it goes below its row, as the details always do. With
`full` nothing is cut: cells are wrapped, too.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal, NamedTuple

from syncret.config.visible import printable
from syncret.daemon.cli.terminal import Style, hanging, paint, terminal_width
from syncret.daemon.cli.text_width import Side, cut, width_of, wrap

GAP: Final = "  "
LEAST: Final = 12
"""A flexible column keeps so much, unless nothing else helps."""
PATH: Final = 16
"""And so much one that is cut at its start, such as a path: its end says most."""
BESIDE: Final = 40
"""And so much beside a message: names matter more than where the message is."""
MESSAGE: Final = 32
"""The message stays beside the other columns if it gets so much."""
FEW: Final = 3
"""Or if it takes no more lines."""
LINES: Final = 4
"""Of a message, unless all of it is asked for."""
INDENT: Final = "    "
"""Of what stands below its row."""
EMPTY: Final = ("", "-")


class Column(NamedTuple):
    """One column. `fixed` ones are cut only if nothing else helps, the others on their `side`."""

    title: str
    role: Literal["fixed", "flexible", "message", "detail"] = "fixed"
    side: Side = "end"
    is_verdict: bool = False
    """It is shown in the style of its row."""


class Row(NamedTuple):
    """One row, with the style of its verdict."""

    cells: Sequence[str]
    style: str = Style.PLAIN
    is_usual: bool = False
    """Its message is left out where it would need a line of its own."""


class Verdict(NamedTuple):
    """Whether an object is in order: what sorts first, what the table says, and its style."""

    rank: int
    text: str
    style: str


VERDICTS: Final = {
    False: Verdict(0, "NO", Style.BAD),
    None: Verdict(1, "-", Style.DOUBT),
    True: Verdict(2, "yes", Style.GOOD),
}
"""`NO` is seen without colours, too."""


def print_table(columns: Sequence[Column], rows: Iterable[Row], *, full: bool = False) -> None:
    """Print a table on stdout. Details that no row has are left out."""
    kept = [row._replace(cells=[*map(printable, row.cells)]) for row in rows]
    shown = [
        place
        for place, column in enumerate(columns)
        if column.role != "detail" or any(row.cells[place] not in EMPTY for row in kept)
    ]
    columns = [columns[place] for place in shown]
    kept = [row._replace(cells=[row.cells[place] for place in shown]) for row in kept]
    width = terminal_width(sys.stdout)
    lines = _whole(columns, kept) if width is None else _fitted(columns, kept, width, full=full)
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _whole(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    """A line for each row, in columns as wide as their cells; the last one is not padded."""
    lines = [[column.title for column in columns], *(row.cells for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield GAP.join(map(_padded, line, widths)).rstrip()


def _fitted(columns: Sequence[Column], rows: Sequence[Row], width: int, *, full: bool) -> Iterator[str]:
    """Lines of at most so many columns of a terminal."""
    widths = _widths(columns, rows, width, full=full)
    heads = [cut(columns[place].title, wide) for place, wide in widths.items()]
    yield GAP.join(map(_padded, heads, widths.values())).rstrip()
    for row in rows:
        cells = [_cell(columns[place], row.cells[place], wide, full=full) for place, wide in widths.items()]
        for parts in zip_longest(*cells, fillvalue=""):
            styles = (row.style if columns[place].is_verdict else Style.PLAIN for place in widths)
            yield GAP.join(map(_padded, parts, widths.values(), styles)).rstrip()
        for place, column in enumerate(columns):
            if place not in widths and row.cells[place] not in EMPTY:
                yield from _below(column, row, row.cells[place], width, full=full)


def _padded(text: str, width: int, style: str = Style.PLAIN) -> str:
    painted = text if style == Style.PLAIN else paint(sys.stdout, text, style)
    return painted + " " * (width - width_of(text))


def _cell(column: Column, text: str, width: int, *, full: bool) -> list[str]:
    """The lines of a cell."""
    if width_of(text) <= width:
        return [text]
    if full:
        return wrap(text, width)
    return _limited(wrap(text, width), width) if column.role == "message" else [cut(text, width, column.side)]


def _below(column: Column, row: Row, text: str, width: int, *, full: bool) -> Iterator[str]:
    """The lines of what stands below its row."""
    if column.role == "message" and row.is_usual:
        return
    label = "" if column.role == "message" else f"{column.title.lower()}: "
    lines = hanging(label + text, width, INDENT, f"{INDENT}  ")
    yield from lines if full else _limited(lines, width)


def _limited(lines: list[str], width: int) -> list[str]:
    """The first lines, of which the last says that there are more."""
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], cut(f"{lines[LINES - 1]} …", width)]


def _widths(columns: Sequence[Column], rows: Sequence[Row], width: int, *, full: bool) -> dict[int, int]:
    """The width of each column that stands beside others, by its place."""
    natural = {
        place: max(width_of(text) for text in (column.title, *(row.cells[place] for row in rows)))
        for place, column in enumerate(columns)
        if column.role != "detail"
    }
    message = next((place for place in natural if columns[place].role == "message"), None)
    flexible = {place for place in natural if columns[place].role == "flexible"}
    if message is None:
        return _shrunk(columns, natural, width, full=full)
    wanted = natural.pop(message)
    beside = width - len(GAP) - min(wanted, MESSAGE, max(LEAST, -(-wanted // FEW)))
    narrow = _narrowed(natural, flexible, BESIDE, beside)
    if _total(narrow) > beside:
        return _shrunk(columns, natural, width, full=full)
    return {**narrow, message: min(wanted, width - len(GAP) - _total(narrow))}


def _shrunk(
    columns: Sequence[Column], natural: Mapping[int, int], width: int, *, full: bool
) -> dict[int, int]:
    """Widths that fit. What is cut at its start gives way first, then all flexible columns, then all."""
    flexible = {place for place in natural if columns[place].role == "flexible"}
    paths = {place for place in flexible if columns[place].side == "start"}
    widths = dict(natural) if full else _narrowed(natural, paths, PATH, width)
    widths = _narrowed(widths, flexible, LEAST, width)
    return _narrowed(widths, set(widths), 2, width)


def _narrowed(widths: Mapping[int, int], flexible: set[int], least: int, width: int) -> dict[int, int]:
    """The widths with the widest of the flexible columns made narrower, until all fit or have the least."""
    kept = dict(widths)
    excess = _total(kept) - width
    while excess > 0:
        widest = sorted((kept[place] for place in flexible), reverse=True)
        if not widest or widest[0] <= least:
            break
        top = [place for place in flexible if kept[place] == widest[0]]
        next_width = max([least, *(wide for wide in widest if wide < widest[0])])
        step = max(1, min(widest[0] - next_width, excess // len(top)))
        for place in top[: max(1, excess)]:
            kept[place] -= step
        excess = _total(kept) - width
    return kept


def _total(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + len(GAP) * max(0, len(widths) - 1)
