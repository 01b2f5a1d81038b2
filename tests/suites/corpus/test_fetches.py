"""The corpus of constraints on fetched values: simulated, on a home that tells late, and on an API server."""

import asyncio
from collections.abc import Mapping
from random import Random

import pytest
from msgspec import convert

from syncret.config.meta import Document
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from syncret.daemon.simulate.scenario import Scenario
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls
from syncret.providers.registry import Registry
from syncret.providers.values import SecretBytes
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.clusters import played
from tests.suites.corpus.runners.fetches import fetched, mismatches, translate
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on
from tests.suites.corpus.runners.simulations import Simulation
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import ADMIN, KubeApi

FILES = ("sensitive.yaml",)
GROUPS = ("fetch_cases",)
LAG = Lag(events=2.0, answers=0.2)


@pytest.fixture(scope="module")
def every(chosen: list[Case]) -> list[Case]:
    """The cases, each once: every lane has them."""
    return list(dict.fromkeys(chosen))


@pytest.fixture(scope="module")
def results(
    every: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[Case, list[Document] | str]:
    return fetched(every, tmp_path_factory.mktemp("fetches"))


@pytest.fixture(scope="module")
def on_a_server(every: list[Case]) -> Mapping[Case, Simulation | str]:
    api = KubeApi()
    try:
        install(api)
        access = Access(
            server=api.url, tls=Tls(ca=api.ca), login=FixedHeaders(bearer(SecretBytes(ADMIN.encode())))
        )
        return asyncio.run(played(every, access, api, translate))
    finally:
        api.stop()


@pytest.mark.conformance(lane="syncret simulate", files=FILES, groups=GROUPS)
def test_fetch(case: Case, results: Mapping[Case, list[Document] | str]) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, ran(results[case])))


@pytest.mark.slow
@pytest.mark.conformance(lane="lagging home", files=FILES, groups=GROUPS)
def test_lagging(case: Case) -> None:
    wait_or_go_on(case)

    def late(cluster: MemoryCluster) -> LaggingHome:
        return LaggingHome(cluster, lag=LAG, chance=Random(case.id))  # noqa: S311  # moments, not keys

    scenario = convert(translate(case, "fetch").document, Scenario)
    result = run_scenario(scenario, Registry(), now=0.0, home_of=late)
    settle(case, mismatches(case, result["steps"]))


@pytest.mark.slow
@pytest.mark.conformance(lane="kube-apiserver", files=FILES, groups=GROUPS)
def test_cluster(case: Case, on_a_server: Mapping[Case, Simulation | str]) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, ran(on_a_server[case]).steps))
