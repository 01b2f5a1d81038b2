"""The chart in the place of the operator's release, on a real API server with the operator's CRDs."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from syncret.config.meta import Document
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.config.schema.crds import crd
from syncret.providers.registry import Registry
from tests.real.helm.conftest import Cluster
from tests.real.helm.test_chart import IMAGE
from tests.support.servers.golang import need_go, sources_of
from tests.support.servers.helm.running import CHART
from tests.support.servers.kube.crds import CRDS

pytestmark = pytest.mark.slow

ESO = Path(__file__).parents[2] / "support" / "servers" / "eso"
DEPLOYMENTS = "/apis/apps/v1/namespaces/external-secrets/deployments"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


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


def crds_of_the_operator() -> Sequence[str]:
    need_go()
    module = sources_of(ESO, "github.com/external-secrets/external-secrets")
    return [path.read_text() for path in sorted((module / "config" / "crds" / "bases").glob("*_*.yaml"))]


def test_a_release_of_the_operator_becomes_ours_in_place(cluster: Cluster, tmp_path: Path) -> None:
    theirs = tmp_path / "external-secrets"
    (theirs / "templates").mkdir(parents=True)
    head = {"apiVersion": "v2", "name": "external-secrets", "version": "2.9.0"}
    (theirs / "Chart.yaml").write_text(yaml.safe_dump(head))
    (theirs / "templates" / "all.yaml").write_text(yaml.safe_dump_all(release_of_the_operator()))
    (theirs / "crds.yaml").write_text("---\n".join(crds_of_the_operator()))
    (theirs / "templates" / "crds.yaml").write_text('{{ .Files.Get "crds.yaml" }}')
    where = ("--namespace", "external-secrets")
    cluster.helm({}, "install", "external-secrets", str(theirs), *where)
    values = {
        **IMAGE,
        "fullnameOverride": "external-secrets",
        "metrics": {"service": {"enabled": True}},
    }
    cluster.helm(values, "upgrade", "external-secrets", str(CHART), *where)
    assert cluster.names(DEPLOYMENTS) == ["external-secrets-controller"], "theirs are gone"
    services = cluster.names("/api/v1/namespaces/external-secrets/services")
    assert "external-secrets-metrics" in services, "where dashboards look"
    service = cluster.api.get("/api/v1/namespaces/external-secrets/services/external-secrets-webhook")
    pods = (cluster.api.get(f"{DEPLOYMENTS}/external-secrets-controller") or {})["spec"]["template"]
    assert service is not None
    assert service["spec"]["selector"].items() <= pods["metadata"]["labels"].items()
    ours = crd(EXTERNAL_SECRET, Registry())
    found = cluster.api.get(f"{CRDS}/{ours['metadata']['name']}") or {}
    assert found["spec"]["versions"] == ours["spec"]["versions"]
    for name in ("secretstore-validate", "externalsecret-validate"):
        found = cluster.api.get(f"{WEBHOOKS}/{name}") or {}
        assert {each["failurePolicy"] for each in found["webhooks"]} == {"Ignore"}
