"""The corpus of admission, through the function that judges every document."""

import pytest

from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import settle, wait_or_go_on
from tests.suites.corpus.runners.verdicts import judged, mismatches

pytestmark = pytest.mark.conformance(lane="function", files=("validation_cases.yaml",))


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry()


def test_admission(case: Case, registry: Registry) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, judged(case, registry)))
