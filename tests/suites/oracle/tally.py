"""Counts how often both sides said the same, and keeps what they did not agree on."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tests.suites.oracle.client import Answer
from tests.suites.oracle.listed import is_listed

_SHOWN: Final = 10
_COLUMNS: Final = 3


@dataclass(slots=True)
class Row:
    """One family of cases.

    `refused`: both sides failed, at the same step. `bounded`: only our budget said no. `listed`: they
    differ as the documentation says.
    """

    cases: int = 0
    refused: int = 0
    bounded: int = 0
    listed: int = 0
    differences: list[str] = field(default_factory=list[str])


class Tally:
    """The families of a run."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def compare(self, family: str, question: object, theirs: Answer, ours: Answer) -> None:
        """Count one case."""
        row = self.rows.setdefault(family, Row())
        row.cases += 1
        if ours.bounded:
            row.bounded += 1
        elif theirs != ours and is_listed(str(question), theirs, ours):
            row.listed += 1
        elif theirs != ours:
            row.differences.append(
                f"{question!r}\n    Go:      {_shown(theirs)}\n    syncret: {_shown(ours)}"
            )
        elif theirs.failed:
            row.refused += 1

    def check(self, family: str) -> None:
        """Fail, and show the first differences, if there are any."""
        differences = self.rows[family].differences
        told = "\n".join(differences[:_SHOWN])
        assert not differences, f"{len(differences)} of {self.rows[family].cases} differ\n{told}"

    def lines(self) -> Iterable[str]:
        """The table: families, cases, how many of them both refused, differences."""
        cells = [
            f"{family:28} {row.cases:6} {row.refused:6} {len(row.differences):4}"
            for family, row in sorted(self.rows.items())
        ]
        head = f"{'family':28} {'cases':>6} {'errors':>6} {'diff':>4}"
        yield " | ".join([head] * _COLUMNS)
        height = -(-len(cells) // _COLUMNS)
        for index in range(height):
            yield " | ".join(cells[index::height])
        rows = self.rows.values()
        yield f"{sum(row.cases for row in rows)} cases"
        yield f"{sum(row.refused for row in rows)} errors on both sides"
        yield f"{sum(row.bounded for row in rows)} beyond our budget"
        yield f"{sum(row.listed for row in rows)} listed differences"
        yield f"{sum(len(row.differences) for row in rows)} other differences"


def _shown(answer: Answer) -> str:
    return f"{answer.failed}: {answer.why}" if answer.failed else repr(answer.result)
