"""The corpus of ExternalSecrets, PushSecrets and their cluster-wide kinds, on a real API server."""

import asyncio
from collections.abc import Mapping

import pytest

from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls
from syncret.providers.values import SecretBytes
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.clusters import played
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on
from tests.suites.corpus.runners.simulations import Simulation, differences
from tests.support.servers.kube.crds import install, install_widgets
from tests.support.servers.kube.running import ADMIN, KubeApi

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(
        lane="kube-apiserver", files=("externalsecret_cases.yaml", "pushsecret_cases.yaml")
    ),
]


@pytest.fixture(scope="module")
def simulations(chosen: list[Case]) -> Mapping[Case, Simulation | str]:
    """All cases, on a server of their own: what is left of one is deleted, wherever it is."""
    api = KubeApi()
    try:
        install(api)
        install_widgets(api)
        access = Access(
            server=api.url, tls=Tls(ca=api.ca), login=FixedHeaders(bearer(SecretBytes(ADMIN.encode())))
        )
        return asyncio.run(played(chosen, access, api))
    finally:
        api.stop()


def test_cluster(case: Case, simulations: Mapping[Case, Simulation | str]) -> None:
    wait_or_go_on(case)
    simulation = ran(simulations[case])
    settle(case, differences(case, simulation))
