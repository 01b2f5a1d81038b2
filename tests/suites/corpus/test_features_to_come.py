"""Families of the corpus that wait for features to come: counted, and not run."""

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import wait_or_go_on

pytestmark = pytest.mark.conformance(lane="-", files=("sensitive.yaml",))


def test_feature(case: Case) -> None:
    wait_or_go_on(case)
    pytest.fail(f"{case.waits_for or 'the feature'} is here: run the cases of {case.file}")
