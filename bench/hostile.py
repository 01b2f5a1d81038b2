"""Hostile manifests on a real daemon: what fifty honest objects of somebody else feel of each.

`HOSTILE=REGEX` chooses some by name. Gaps are judged without the time in which the daemon waited for a
processor.
"""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.figures import Figure
from tests.faults.hostile.arena import DRAIN, HONEST, Outcome, faced
from tests.faults.hostile.manifests import Hostile
from tests.faults.hostile.table import CASES

GAP: Final = 0.25
PEAK: Final = 200.0
DELIVERED: Final = 2.0
GOAL: Final = f"{GAP * 1000:.0f} ms, {PEAK:.0f} MiB, {DELIVERED:g} s, exit 0"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """One line for each manifest."""
    wanted = os.environ.get("HOSTILE", "")
    chosen = [case for case in CASES if re.search(wanted, case.name)]
    for case in chosen[:1] if smoke else chosen:
        outcome = faced(folder / case.name, case, random.Random(case.name))  # noqa: S311  # moments, not keys
        yield Figure(f"{case.name}: {case.tried}", GOAL, _figure(outcome), _met(case, outcome))


def _figure(outcome: Outcome) -> str:
    if outcome.killed:
        return f"{outcome.killed}; {outcome.delivered} of {HONEST} delivered, peak {outcome.peak:.0f} MiB"
    return (
        f"gap {1000 * outcome.own:.0f} ms (with waiting {1000 * outcome.gap:.0f}), "
        f"peak {outcome.peak:.0f} MiB (+{outcome.over:.0f}), "
        f"{outcome.delivered} delivered in {outcome.delivered_after:.1f} s, oldest {outcome.oldest:.1f} s, "
        f"SIGTERM: {outcome.exit_code} after {outcome.stopped_after:.1f} s"
    )


def _met(case: Hostile, outcome: Outcome) -> bool:
    return (
        not outcome.killed
        and outcome.own <= GAP
        and outcome.peak <= PEAK
        and outcome.delivered == HONEST
        and outcome.delivered_after <= DELIVERED
        and outcome.exit_code == 0
        and outcome.stopped_after <= DRAIN
        and outcome.ended_as(case)
    )
