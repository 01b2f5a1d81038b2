"""The operator on a real API server that holds all CRDs; one installation at a time."""

from collections.abc import Generator
from pathlib import Path

import pytest

from syncret.config.resources.kinds import OPERATOR_KINDS
from tests.real.kubernetes.conftest import kubeconfig_of
from tests.real.operator.operating import remove_installation
from tests.support.servers.kube.crds import install, install_kinds
from tests.support.servers.kube.running import KubeApi, kube_api


@pytest.fixture
def api() -> Generator[KubeApi]:
    """The API server of this run, with all CRDs and nothing installed."""
    server = kube_api()
    install(server)
    install_kinds(server, OPERATOR_KINDS)
    remove_installation(server)
    yield server
    remove_installation(server)


@pytest.fixture
def namespace(api: KubeApi) -> str:
    """Where the operator itself runs: its Lease is there."""
    return api.namespace()


@pytest.fixture
def kubeconfig(tmp_path: Path, api: KubeApi) -> Path:
    """A kubeconfig of the administrator."""
    return kubeconfig_of(tmp_path, api)
