"""What a measure comes to, and the table of all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Final


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `met` is None where there is no goal: the line explains another one."""

    measure: str
    goal: str
    figure: str
    met: bool | None = None


HEAD: Final = ("measure", "goal", "figure", "met")


def table(figures: Iterable[Figure]) -> str:
    """A table in Markdown, so that it can be pasted into docs/performance.md."""
    words = {True: "yes", False: "**no**", None: ""}
    rows: list[tuple[str, ...]] = [
        HEAD,
        *((each.measure, each.goal, each.figure, words[each.met]) for each in figures),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def p99(values: Sequence[float]) -> float:
    """The value that one in a hundred exceeds."""
    return quantiles(values, n=100)[98] if len(values) > 1 else values[0]
