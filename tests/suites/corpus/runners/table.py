"""The table that closes a run: one row for each family and lane, then every case that differs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

PASSED, FAILED, WAITING, UNCERTAIN = "passed", "failed", "waiting", "uncertain"


class Entry(NamedTuple):
    """What became of one case in one lane."""

    family: str
    lane: str
    case: str
    outcome: str
    text: str


_HEAD: Final = ("family", "lane", "passed/total", "waiting", "uncertain")


def lines(entries: Iterable[Entry], not_run: Sequence[str] = ()) -> Iterator[str]:
    """The lines of the table. Cases that wait, or differ and are uncertain, are not part of the total."""
    told = sorted(entries)
    rows = [_HEAD, *(_row(*key, told) for key in sorted({(entry.family, entry.lane) for entry in told}))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
    for outcome in (FAILED, UNCERTAIN):
        yield from _differing(entry for entry in told if entry.outcome == outcome)
    waiting = sorted({f"{entry.family} ({entry.text})" for entry in told if entry.outcome == WAITING})
    if waiting:
        yield ""
        yield f"waiting, in whole or in part: {', '.join(waiting)}"
    if not_run:
        yield ""
        yield f"not run, since nothing here knows their cases: {', '.join(not_run)}"


def _differing(entries: Iterable[Entry]) -> Iterator[str]:
    """Each text once, below the names of all cases that have it in common."""
    named: dict[str, list[str]] = {}
    for entry in entries:
        named.setdefault(entry.text, []).append(
            f"{entry.outcome}: {entry.family}, {entry.lane}: {entry.case}"
        )
    for text, names in named.items():
        yield ""
        yield from names
        yield from (f"    {line}" for line in text.splitlines())


def _row(family: str, lane: str, entries: Iterable[Entry]) -> tuple[str, ...]:
    outcomes = [entry.outcome for entry in entries if (entry.family, entry.lane) == (family, lane)]
    passed, failed = outcomes.count(PASSED), outcomes.count(FAILED)
    waiting, uncertain = outcomes.count(WAITING), outcomes.count(UNCERTAIN)
    return family, lane, f"{passed}/{passed + failed}", str(waiting or "-"), str(uncertain or "-")
