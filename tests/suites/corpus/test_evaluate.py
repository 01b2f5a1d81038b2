"""The corpus of dynamic exports, through `syncret evaluate` as a process.

A sample, the same each time; with SYNCRET_CONFORMANCE_ALL=1, all of them.
"""

from pathlib import Path

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.exports import commanded, mismatches
from tests.suites.corpus.runners.outcome import ran, settle

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(lane="syncret evaluate", files=("exports.json",), sample=40),
]


def test_evaluate(case: Case, tmp_path: Path) -> None:
    settle(case, mismatches(case, ran(commanded(case, tmp_path))))
