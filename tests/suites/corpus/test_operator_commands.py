"""The corpus of the operator's kinds, through `syncret validate` and `syncret simulate` as processes."""

from pathlib import Path

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.installations import commanded, mismatches
from tests.suites.corpus.runners.outcome import settle

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(lane="syncret validate and simulate", files=("operator_cases.yaml",)),
]


def test_operator_commands(case: Case, tmp_path: Path) -> None:
    settle(case, mismatches(case, commanded(case, tmp_path)))
