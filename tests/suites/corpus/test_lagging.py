"""The corpus of ExternalSecrets, PushSecrets and cluster-wide kinds, on a home that tells of writes late."""

from collections.abc import Mapping
from random import Random

import pytest
from msgspec import convert

from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from syncret.daemon.simulate.scenario import Scenario
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import Unknown
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on
from tests.suites.corpus.runners.scenarios import translate
from tests.suites.corpus.runners.simulations import Simulation, differences

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(
        lane="lagging home", files=("externalsecret_cases.yaml", "pushsecret_cases.yaml")
    ),
]

LAG = Lag(events=2.0, answers=0.2)
"""Each kind in its own order, within a step, which takes three seconds. The moments of a case are the same at
each run: an ExternalSecret of one second could be refreshed before its store is told to be another one."""


@pytest.fixture(scope="module")
def simulations(chosen: list[Case]) -> Mapping[Case, Simulation | str]:
    registry = Registry()
    return {case: played(case, number, registry) for number, case in enumerate(chosen)}


def played(case: Case, number: int, registry: Registry) -> Simulation | str:
    """What was reported of the steps of a case, or why it was not played."""
    try:
        translated = translate(case, f"case-{number:04}")
    except Unknown as error:
        return str(error)

    def late(cluster: MemoryCluster) -> LaggingHome:
        return LaggingHome(cluster, lag=LAG, chance=Random(case.id))  # noqa: S311  # moments, not keys

    result = run_scenario(convert(translated.document, Scenario), registry, now=0.0, home_of=late)
    return Simulation(translated, result["steps"])


def test_lagging(case: Case, simulations: Mapping[Case, Simulation | str]) -> None:
    wait_or_go_on(case)
    simulation = ran(simulations[case])
    settle(case, differences(case, simulation))
