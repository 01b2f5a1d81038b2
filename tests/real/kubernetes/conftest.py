"""The cluster home on a real API server that holds the exported CRDs; a namespace for each test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls
from syncret.providers.registry import Registry
from syncret.providers.values import SecretBytes
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import ADMIN, KubeApi, kube_api


@pytest.fixture
def api() -> KubeApi:
    """The API server of this run, with our CRDs."""
    server = kube_api()
    install(server)
    return server


@pytest.fixture
def namespace(api: KubeApi) -> str:
    return api.namespace()


def access_of(api: KubeApi, token: str = ADMIN) -> Access:
    """The access of the administrator, or of an account."""
    return Access(server=api.url, tls=Tls(ca=api.ca), login=FixedHeaders(bearer(SecretBytes(token.encode()))))


@pytest.fixture
async def home(api: KubeApi, namespace: str) -> AsyncGenerator[KubernetesHome]:
    """A home that works in the namespace of the test."""
    async with cluster_home(access_of(api), catalog=Registry(), scope=Scope(namespace)) as opened:
        yield opened


@pytest.fixture
def kubeconfig(tmp_path: Path, api: KubeApi) -> Path:
    """A kubeconfig of the administrator."""
    return kubeconfig_of(tmp_path, api)


def kubeconfig_of(folder: Path, api: KubeApi) -> Path:
    """A kubeconfig of the administrator, in that folder."""
    return api.kubeconfig(folder / "kubeconfig")
