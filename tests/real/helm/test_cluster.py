"""The chart on a real API server: accepted, installed, upgraded, removed."""

import pytest

from syncret.config.meta import Document
from tests.real.helm.conftest import Cluster
from tests.real.helm.test_chart import CASES, IMAGE, complete
from tests.support.servers.helm import running as helm
from tests.support.servers.helm.running import CHART
from tests.support.servers.kube.crds import CRDS
from tests.support.servers.kube.running import Answer

pytestmark = pytest.mark.slow

DRY_RUN = "?dryRun=All&fieldValidation=Strict"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def place(document: Document) -> str:
    """Where an object is created."""
    version, kind = document["apiVersion"], document["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = document["metadata"].get("namespace", "")
    plural = "networkpolicies" if kind == "NetworkPolicy" else f"{kind.lower()}s"
    return f"{root}{f'/namespaces/{namespace}' if namespace else ''}/{plural}"


def asked(cluster: Cluster, document: Document) -> Answer:
    """What the server would answer: to the object's creation, or to its replacement if it is there."""
    path, name = place(document), document["metadata"]["name"]
    there = cluster.api.get(f"{path}/{name}")
    if there is None:
        return cluster.api.request("POST", f"{path}{DRY_RUN}", document)
    document["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"]
    return cluster.api.request("PUT", f"{path}/{name}{DRY_RUN}", document)


@pytest.mark.parametrize("name", CASES)
def test_the_server_accepts_every_object(cluster: Cluster, name: str) -> None:
    for each in helm.template(CHART, complete(CASES[name]), "--namespace", "ops"):
        answer = asked(cluster, each)
        assert answer.status in {200, 201}, answer
        assert not answer.warnings


def test_a_release_is_installed_upgraded_and_removed_and_its_objects_stay(cluster: Cluster) -> None:
    release = ("syncret", "--namespace", "ops")
    notes = cluster.helm(
        {**IMAGE, **CASES["what has no effect"]}, "install", *release[:1], str(CHART), *release[1:]
    )
    for key in ("certController", "bitwarden-sdk-server", "vault", "enableHTTP2"):
        assert f"\n{key}: No effect" in notes
    assert "\nwebhook.revisionHistoryLimit: No effect" in notes
    assert "externalsecrets.external-secrets.io" in cluster.names(CRDS)
    again = cluster.helm({**IMAGE, "replicaCount": 2}, "upgrade", *release[:1], str(CHART), *release[1:])
    assert "No effect" not in again
    deployment = cluster.api.get("/apis/apps/v1/namespaces/ops/deployments/syncret-controller")
    assert deployment is not None
    assert deployment["spec"]["replicas"] == 2
    cluster.uninstall("syncret", "ops")
    assert not cluster.names("/apis/apps/v1/namespaces/ops/deployments")
    assert not cluster.names(WEBHOOKS)
    stayed = [name for name in cluster.names(CRDS) if name.endswith("external-secrets.io")]
    assert "externalsecrets.external-secrets.io" in stayed, "or all objects would be gone"
