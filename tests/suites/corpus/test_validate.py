"""The corpus of admission, through `syncret validate` as a process."""

from collections.abc import Mapping

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on
from tests.suites.corpus.runners.verdicts import Verdict, mismatches, validated

pytestmark = pytest.mark.conformance(lane="syncret validate", files=("validation_cases.yaml",))


@pytest.fixture(scope="module")
def verdicts(chosen: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Mapping[Case, Verdict | str]:
    return validated(chosen, tmp_path_factory.mktemp("validate"))


def test_validate(case: Case, verdicts: Mapping[Case, Verdict | str]) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, ran(verdicts[case])))
