"""Faults of the outside, on a real daemon: each scenario is a test, its moments come from one seed."""

import os
import random
import time
from typing import Final

import pytest

SEED: Final = int(os.environ.get("SYNCRET_SEED", str(time.time_ns())))


def pytest_report_header() -> str:
    """Print the seed, also of a run that passes."""
    return f"faults: SYNCRET_SEED={SEED} repeats the moments of this run"


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """The moments of one scenario: those of the seed, whatever else runs."""
    return random.Random(f"{SEED} {request.node.nodeid}")  # noqa: S311  # moments, not keys
