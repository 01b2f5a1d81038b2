"""The daemon has enough with the rules of the guide, and asks for nothing that they do not grant."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.real.e2e.process import daemon
from tests.real.kubernetes.test_engine import CLEANUP, Cluster
from tests.suites.docs.test_kubernetes import shown
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

NAMESPACE = "external-secrets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PLACES = {
    "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
    "ClusterRole": f"{RBAC}/clusterroles",
    "ClusterRoleBinding": f"{RBAC}/clusterrolebindings",
    "Role": f"{RBAC}/namespaces/{NAMESPACE}/roles",
    "RoleBinding": f"{RBAC}/namespaces/{NAMESPACE}/rolebindings",
}


@pytest.fixture
def alone() -> Generator[KubeApi]:
    """A cluster of its own: the daemon works in all of it."""
    server = KubeApi()
    try:
        install(server)
        yield server
    finally:
        server.stop()


def kubeconfig_of(api: KubeApi, folder: Path) -> Path:
    """A kubeconfig with a token of the ServiceAccount."""
    return api.kubeconfig(folder / "kubeconfig", api.token(NAMESPACE, "syncret"), namespace=NAMESPACE)


def test_the_rules_of_the_guide_are_enough_and_nothing_is_denied(tmp_path: Path, alone: KubeApi) -> None:
    api = alone
    api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for document in shown():
        api.create(PLACES[document["kind"]], document)
    shop = Cluster(api, api.namespace())
    shop.store(k="one")
    shop.sync("e", target={"deletionPolicy": "Delete"})
    shop.sync("bad", key="missing")
    api.create(
        "/apis/external-secrets.io/v1/clusterexternalsecrets",
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ClusterExternalSecret",
            "metadata": {"name": "all"},
            "spec": {
                "namespaces": [shop.namespace],
                "externalSecretName": "child",
                "externalSecretSpec": {
                    "secretStoreRef": {"name": "s"},
                    "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
                },
            },
        },
    )
    api.create(
        shop.path("pushsecrets"),
        {
            "apiVersion": "external-secrets.io/v1alpha1",
            "kind": "PushSecret",
            "metadata": {"name": "p"},
            "spec": {
                "deletionPolicy": "Delete",
                "secretStoreRefs": [{"name": "s"}],
                "selector": {"secret": {"name": "e"}},
                "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "pushed"}}}],
            },
        },
    )
    flags = (
        "--kubernetes",
        "--set",
        f"kubeconfig={kubeconfig_of(api, tmp_path)}",
        "--enable-leader-election",
    )
    with daemon(tmp_path, None, *flags, ready=False) as process:
        process.until(lambda: shop.ready("e").get("status") == "True", "synced")
        process.until(lambda: shop.ready("child").get("status") == "True", "the child synced")
        process.until(lambda: shop.ready("bad").get("status") == "False", "the failure said")
        process.until(lambda: (shop.get("pushsecrets", "p") or {}).get("status"), "pushed")
        process.until(lambda: shop.get("events", "")["items"], "events")  # type: ignore[index]
        assert (shop.get("externalsecrets", "e") or {})["metadata"]["finalizers"] == [CLEANUP]
        api.request("DELETE", shop.path("externalsecrets", "e"))
        process.until(lambda: shop.get("secrets", "e") is None, "the target deleted")
        api.request("DELETE", "/apis/external-secrets.io/v1/clusterexternalsecrets/all")
        process.until(lambda: shop.get("externalsecrets", "child") is None, "the child deleted")
        assert process.metric("syncret_api_requests_total", code="403") == 0
        assert process.metric("leader_election_master_status") == 1
        assert process.get("/readyz") == "ok\n"
        assert process.stop() == 0
