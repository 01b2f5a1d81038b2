"""Hostile manifests on a real daemon: how much each of them delays fifty ordinary objects of another author.

`HOSTILE=REGEX` chooses some by name. Gaps are measured without the time in which the daemon waited for a
processor. Each row is written to `build/hostile.json` and `build/hostile.md` as soon as it is there, and one
that cannot be measured does not end the run. The last line says which rows are over a goal, and by how much.
"""

import json
import os
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.figures import Figure, table
from tests.faults.hostile.arena import DRAIN, HONEST, Outcome, faced
from tests.faults.hostile.manifests import Hostile
from tests.faults.hostile.table import CASES

GAP: Final = 0.25
PEAK: Final = 200.0
DELIVERED: Final = 2.0
GOAL: Final = f"{GAP * 1000:.0f} ms, {PEAK:.0f} MiB, {DELIVERED:g} s, exit 0"
BUILD: Final = Path(__file__).parents[1] / "build"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """One line for each manifest, and one for all."""
    wanted = os.environ.get("HOSTILE", "")
    chosen = [case for case in CASES if re.search(wanted, case.name)]
    report, begin = _Report(), time.monotonic()
    for case in chosen[:1] if smoke else chosen:
        yield report.add(case, _outcome(folder / case.name, case))
    yield report.summary(time.monotonic() - begin)


def _outcome(folder: Path, case: Hostile) -> Outcome:
    try:
        return faced(folder, case, random.Random(case.name))  # noqa: S311  # moments, not keys
    except Exception as error:  # noqa: BLE001  # the others are measured all the same
        return Outcome(case.name, killed=f"not measured: {type(error).__name__}: {error}"[:300])


class _Report:
    """The rows so far, in files."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._figures: list[Figure] = []
        self._over: dict[str, list[str]] = {}

    def add(self, case: Hostile, outcome: Outcome) -> Figure:
        """One row."""
        over = list(_over(case, outcome))
        if over:
            self._over[case.name] = over
        figure = Figure(f"{case.name}: {case.tried}", GOAL, _figure(outcome), not over)
        self._figures.append(figure)
        row = asdict(outcome)
        del row["log"]
        self._rows.append(row | {"over": over})
        self._write()
        return figure

    def summary(self, seconds: float) -> Figure:
        """All rows in one line."""
        rows = "; ".join(f"{name}: {', '.join(over)}" for name, over in self._over.items())
        figure = Figure(
            f"{len(self._rows)} hostile manifests in {seconds / 60:.0f} minutes",
            "none over a goal",
            f"{len(self._over)} over a goal" + (f" ({rows})" if rows else ""),
            not self._over,
        )
        self._figures.append(figure)
        self._write()
        sys.stderr.write(f"rows: {BUILD / 'hostile.json'}, {BUILD / 'hostile.md'}\n")
        return figure

    def _write(self) -> None:
        (BUILD / "hostile.json").write_text(json.dumps(self._rows, indent=1) + "\n")
        (BUILD / "hostile.md").write_text(table(self._figures) + "\n")


def _figure(outcome: Outcome) -> str:
    if outcome.killed:
        return f"{outcome.killed}; {outcome.delivered} of {HONEST} delivered, peak {outcome.peak:.0f} MiB"
    return (
        f"gap {1000 * outcome.own:.0f} ms (with waiting {1000 * outcome.gap:.0f}), "
        f"peak {outcome.peak:.0f} MiB (+{outcome.over:.0f}), "
        f"{outcome.delivered} delivered in {outcome.delivered_after:.1f} s, oldest {outcome.oldest:.1f} s, "
        f"SIGTERM: {outcome.exit_code} after {outcome.stopped_after:.1f} s"
    )


def _over(case: Hostile, outcome: Outcome) -> Iterable[str]:
    """Which goals it misses, and by how much."""
    if outcome.killed:
        yield outcome.killed
        return
    if outcome.own > GAP:
        load = f", of which the loop was busy for {1000 * outcome.busy:.0f}" if outcome.busy <= GAP else ""
        yield f"gap {1000 * outcome.own:.0f} ms{load}"
    if outcome.peak > PEAK:
        yield f"peak {outcome.peak:.0f} MiB"
    if outcome.delivered < HONEST:
        yield f"{outcome.delivered} of {HONEST} delivered"
    elif outcome.delivered_after > DELIVERED:
        yield f"delivered in {outcome.delivered_after:.1f} s"
    if outcome.exit_code != 0:
        yield f"exit {outcome.exit_code}"
    if outcome.stopped_after > DRAIN:
        yield f"stopped after {outcome.stopped_after:.0f} s"
    if not outcome.ended_as(case):
        yield f"ended with: {outcome.condition or outcome.problems[:1]}"
