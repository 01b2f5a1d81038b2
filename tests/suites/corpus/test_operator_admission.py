"""The corpus of the operator's kinds, through the function that judges every document."""

import pytest

from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.installations import judged, mismatches
from tests.suites.corpus.runners.outcome import settle

pytestmark = pytest.mark.conformance(lane="function", files=("operator_cases.yaml",))


def test_operator_admission(case: Case) -> None:
    settle(case, mismatches(case, judged(case, Registry())))
