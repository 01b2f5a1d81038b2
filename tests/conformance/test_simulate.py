"""The corpus of ExternalSecrets, PushSecrets and their cluster-wide kinds, through `syncret simulate`."""

from collections.abc import Mapping, Sequence

import pytest

from tests.conformance.corpus.cases import Case
from tests.conformance.corpus.outcome import settle, wait_or_go_on
from tests.conformance.corpus.simulations import simulated

pytestmark = pytest.mark.conformance(
    lane="syncret simulate", files=("externalsecret_cases.yaml", "pushsecret_cases.yaml")
)


@pytest.fixture(scope="module")
def found(chosen: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Mapping[Case, Sequence[str]]:
    return simulated(chosen, tmp_path_factory.mktemp("simulate"))


def test_simulate(case: Case, found: Mapping[Case, Sequence[str]]) -> None:
    wait_or_go_on(case)
    settle(case, found[case])
