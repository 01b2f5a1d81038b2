"""The corpus of constraints on fetched values, through `syncret simulate`."""

from collections.abc import Mapping

import pytest

from syncret.config.meta import Document
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.fetches import fetched, mismatches
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on

pytestmark = pytest.mark.conformance(
    lane="syncret simulate", files=("sensitive.yaml",), groups=("fetch_cases",)
)


@pytest.fixture(scope="module")
def results(
    chosen: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[Case, list[Document] | str]:
    return fetched(chosen, tmp_path_factory.mktemp("fetches"))


def test_fetch(case: Case, results: Mapping[Case, list[Document] | str]) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, ran(results[case])))
