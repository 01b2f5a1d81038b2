"""The corpus of ExternalSecrets, PushSecrets and their cluster-wide kinds, through `syncret simulate`."""

from collections.abc import Mapping

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on
from tests.suites.corpus.runners.simulations import Simulation, differences, simulated

pytestmark = [
    pytest.mark.conformance(
        lane="syncret simulate", files=("externalsecret_cases.yaml", "pushsecret_cases.yaml")
    ),
    pytest.mark.slow,  # nine processes that work for a second each
]


@pytest.fixture(scope="module")
def simulations(
    chosen: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[Case, Simulation | str]:
    return simulated(chosen, tmp_path_factory.mktemp("simulate"))


def test_simulate(case: Case, simulations: Mapping[Case, Simulation | str]) -> None:
    wait_or_go_on(case)
    simulation = ran(simulations[case])
    settle(case, differences(case, simulation))
