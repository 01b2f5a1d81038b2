"""Manifests of somebody who wants to stop the daemon: everybody else's Secrets are delivered all the same.

Times are asserted generously, for the machine may be busy; `make bench BENCH=hostile` prints them beside
their goals.
"""

import random
from pathlib import Path
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tests.faults.hostile.arena import DRAIN, HONEST, faced
from tests.faults.hostile.manifests import Hostile
from tests.faults.hostile.table import CASES, FLAWS

pytestmark = pytest.mark.slow

LONGEST_GAP: Final = 5.0
OLDEST: Final = 40.0
"""Seconds; an honest object is due every two."""
LARGEST: Final = 200.0
"""MiB over what the daemon takes without the manifest."""


def _row(hostile: Hostile) -> ParameterSet:
    marks = [] if hostile.quick else [pytest.mark.faults]
    if hostile.name in FLAWS:
        marks.append(pytest.mark.xfail(reason=FLAWS[hostile.name], strict=False))
    return pytest.param(hostile, id=hostile.name, marks=marks)


@pytest.mark.parametrize("hostile", [_row(case) for case in CASES])
def test_nobody_else_feels_it(tmp_path: Path, chance: random.Random, hostile: Hostile) -> None:
    outcome = faced(tmp_path, hostile, chance)
    assert not outcome.killed, outcome
    assert outcome.gap < LONGEST_GAP, outcome
    assert outcome.over < LARGEST, outcome
    assert outcome.delivered == HONEST, outcome
    assert outcome.oldest < OLDEST, outcome
    assert outcome.ended_as(hostile), f"{outcome}\nexpected: {hostile.end} {hostile.says}"
    assert "internal error" not in outcome.condition, outcome
    assert "Traceback" not in outcome.log, outcome.log
    assert outcome.exit_code == 0, outcome
    assert outcome.stopped_after < DRAIN + LONGEST_GAP, outcome
