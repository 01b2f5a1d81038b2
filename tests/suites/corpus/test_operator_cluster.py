"""The corpus of the operator's kinds, on a real API server that holds their CRDs."""

import pytest

from syncret.config.resources.kinds import OPERATOR_KINDS
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.installations import answered, mismatches
from tests.suites.corpus.runners.outcome import settle
from tests.support.servers.kube.crds import install_kinds
from tests.support.servers.kube.running import KubeApi, kube_api

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(lane="kube-apiserver", files=("operator_cases.yaml",)),
]


@pytest.fixture(scope="module")
def api() -> KubeApi:
    server = kube_api()
    install_kinds(server, OPERATOR_KINDS)
    return server


def test_operator_cluster(case: Case, api: KubeApi) -> None:
    settle(case, mismatches(case, answered(case, api)))
