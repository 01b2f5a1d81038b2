"""The chart on a real API server: accepted, installed, and put in the place of the operator's release."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from syncret.config.meta import Document
from tests.real.helm.conftest import Cluster
from tests.real.helm.test_chart import CASES, IMAGE, complete
from tests.support.servers.helm import running as helm
from tests.support.servers.helm.running import CHART
from tests.support.servers.kube.crds import CRDS
from tests.support.servers.kube.running import Answer

pytestmark = pytest.mark.slow

DEPLOYMENTS = "/apis/apps/v1/namespaces/external-secrets/deployments"
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


def deployment_of_the_operator(name: str) -> Document:
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": "external-secrets"}
    container = {"name": "external-secrets", "image": "registry.example/operator:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "external-secrets", "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def release_of_the_operator() -> Sequence[Document]:
    """What of the operator's release has names that ours has, too."""
    name, rbac = "external-secrets", "rbac.authorization.k8s.io"
    metadata = {"name": name, "namespace": name}
    webhook = {"name": f"{name}-webhook", "namespace": name}
    role = f"{name}-controller"
    client = {"service": {"name": webhook["name"], "namespace": name, "path": "/validate"}}
    return [
        *(deployment_of_the_operator(f"{name}{suffix}") for suffix in ("", "-webhook", "-cert-controller")),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": role}, "rules": []},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": role},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", **metadata}],
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": webhook,
            "spec": {
                "selector": {"app.kubernetes.io/name": f"{name}-webhook"},
                "ports": [{"port": 443, "targetPort": 10250, "name": "webhook"}],
            },
        },
        {"apiVersion": "v1", "kind": "Secret", "metadata": webhook},
        *(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": f"{kind}-validate"},
                "webhooks": [
                    {
                        "name": f"validate.{kind}.external-secrets.io",
                        "clientConfig": client,
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                        "failurePolicy": "Fail",
                        "rules": [
                            {
                                "apiGroups": ["external-secrets.io"],
                                "apiVersions": ["v1"],
                                "operations": ["CREATE", "UPDATE", "DELETE"],
                                "resources": [f"{kind}s"],
                            }
                        ],
                    }
                ],
            }
            for kind in ("secretstore", "externalsecret")
        ),
    ]


def test_a_release_of_the_operator_becomes_ours_in_place(cluster: Cluster, tmp_path: Path) -> None:
    theirs = tmp_path / "external-secrets"
    (theirs / "templates").mkdir(parents=True)
    head = {"apiVersion": "v2", "name": "external-secrets", "version": "2.9.0"}
    (theirs / "Chart.yaml").write_text(yaml.safe_dump(head))
    (theirs / "templates" / "all.yaml").write_text(yaml.safe_dump_all(release_of_the_operator()))
    where = ("--namespace", "external-secrets")
    cluster.helm({}, "install", "external-secrets", str(theirs), *where)
    values = {
        **IMAGE,
        "installCRDs": False,
        "fullnameOverride": "external-secrets",
        "metrics": {"service": {"enabled": True}},
    }
    try:
        cluster.helm(values, "upgrade", "external-secrets", str(CHART), *where)
        assert cluster.names(DEPLOYMENTS) == ["external-secrets-controller"], "theirs are gone"
        services = cluster.names("/api/v1/namespaces/external-secrets/services")
        assert "external-secrets-metrics" in services, "where dashboards look"
        service = cluster.api.get("/api/v1/namespaces/external-secrets/services/external-secrets-webhook")
        pods = (cluster.api.get(f"{DEPLOYMENTS}/external-secrets-controller") or {})["spec"]["template"]
        assert service is not None
        assert service["spec"]["selector"].items() <= pods["metadata"]["labels"].items()
        for name in ("secretstore-validate", "externalsecret-validate"):
            found = cluster.api.get(f"{WEBHOOKS}/{name}") or {}
            assert {each["failurePolicy"] for each in found["webhooks"]} == {"Ignore"}
    finally:
        cluster.uninstall("external-secrets", "external-secrets")
