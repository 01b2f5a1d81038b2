"""A daemon as a process, with the rights that its manifests give: what it exports, and what is denied."""

from collections.abc import Generator
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry
from tests.real.e2e.process import daemon
from tests.real.exports.crds import crd, install
from tests.real.kubernetes.test_rbac import NAMESPACE, PLACES, kubeconfig_of
from tests.support.servers.kube.crds import install as install_ours
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow


@pytest.fixture
def alone() -> Generator[KubeApi]:
    """A cluster of its own: the daemon works in all of it."""
    server = KubeApi()
    try:
        install_ours(server)
        yield server
    finally:
        server.stop()


def test_the_rights_of_the_manifests_are_enough_and_nothing_is_denied(tmp_path: Path, alone: KubeApi) -> None:
    api = alone
    api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for document in render(Installation(image="x:1", namespace=NAMESPACE), Registry()):
        if document["kind"] in PLACES:
            api.create(PLACES[document["kind"]], document)
    path = f"{install(api, crd('cache.azure.com', 'Redis', 'redis'))}/namespaces"
    other = f"{install(api, crd('cache.example.com', 'Redis', 'redis'))}/namespaces"
    shop = api.namespace()

    def create(place: str, group: str, name: str, operator_spec: Document) -> None:
        resource = {
            "apiVersion": f"{group}/v1",
            "kind": "Redis",
            "metadata": {"name": name},
            "spec": {"port": "6380", "operatorSpec": operator_spec},
        }
        api.create(f"{place}/{shop}/redis", resource)

    def data(plural: str, name: str) -> Document | None:
        found = api.get(f"/api/v1/namespaces/{shop}/{plural}/{name}")
        return None if found is None else found["data"]

    port = {"key": "port", "value": "self.spec.port"}
    create(
        path,
        "cache.azure.com",
        "cache",
        {"dynamicConfigMaps": [{"name": "a", **port}], "dynamicSecrets": [{"name": "a", **port}]},
    )
    create(other, "cache.example.com", "else", {"dynamicConfigMaps": [{"name": "b", **port}]})
    flags = ("--kubernetes", "--set", f"kubeconfig={kubeconfig_of(api, tmp_path)}")
    with daemon(tmp_path, None, *flags, ready=False) as process:
        process.until(lambda: data("configmaps", "a") == {"port": "6380"}, "the ConfigMap")
        process.until(lambda: data("secrets", "a") == {"port": "NjM4MA=="}, "the Secret")
        api.request("PUT", f"{path}/{shop}/redis/cache", _without_exports(api, f"{path}/{shop}/redis/cache"))
        process.until(lambda: data("configmaps", "a") is None, "the ConfigMap is gone")
        process.until(lambda: data("secrets", "a") is None, "the Secret is gone")
        assert data("configmaps", "b") is None
        assert process.metric("syncret_api_requests_total", code="403") == 0
        assert process.metric("syncret_exports_total", kind="Redis") >= 1
        assert process.stop() == 0


def _without_exports(api: KubeApi, path: str) -> Document:
    found = api.get(path)
    assert found is not None
    return {**found, "spec": {"port": "6380"}}
