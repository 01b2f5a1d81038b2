"""The table of hostile manifests is written row by row, whatever becomes of one of them."""

import json
import random
from pathlib import Path

import pytest

from bench import hostile
from tests.faults.hostile.arena import HONEST, Outcome
from tests.faults.hostile.manifests import Hostile
from tests.faults.hostile.table import CASES

GOOD, SLOW, BROKEN = (case.name for case in CASES[:3])


def faced(folder: Path, case: Hostile, chance: random.Random) -> Outcome:
    """What the arena measures."""
    del folder, chance
    if case.name == BROKEN:
        raise AssertionError("no daemon")
    outcome = Outcome(case.name, delivered=HONEST, delivered_after=1.0, exit_code=0)
    outcome.ready, outcome.condition = case.end == "ready", "workTime, compile and all else"
    if case.name == SLOW:
        outcome.own, outcome.busy, outcome.peak = 0.4, 0.1, 250.0
    return outcome


def test_a_row_that_fails_ends_nothing_and_all_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "BUILD", tmp_path)
    monkeypatch.setattr(hostile, "faced", faced)
    monkeypatch.setenv("HOSTILE", f"^({GOOD}|{SLOW}|{BROKEN})$")
    *rows, summary = hostile.measure(tmp_path, smoke=False)
    assert [row.met for row in rows] == [True, False, False]
    assert summary.measure.startswith("3 hostile manifests in 0 minutes")
    assert summary.figure.startswith("2 over a goal")
    assert f"{SLOW}: gap 400 ms, of which the loop was busy for 100, peak 250 MiB" in summary.figure
    assert f"{BROKEN}: not measured: AssertionError: no daemon" in summary.figure
    written = json.loads((tmp_path / "hostile.json").read_text())
    assert [(row["name"], bool(row["over"])) for row in written] == [
        (GOOD, False),
        (SLOW, True),
        (BROKEN, True),
    ]
    assert (tmp_path / "hostile.md").read_text().count("\n") == 6
