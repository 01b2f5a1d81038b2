"""A minute of `make replicas`, with fewer objects."""

import pytest

from tests.real.replicas.estate import SMALL
from tests.real.replicas.run import play

pytestmark = pytest.mark.slow


def test_a_minute_of_crashes_suspensions_and_restarts() -> None:
    outcome = play(SMALL, 60.0, seed=6)
    assert outcome.failures == []
    assert outcome.verdict.writes > 0
    assert sum(map(len, outcome.verdict.takeovers.values())) > 0
