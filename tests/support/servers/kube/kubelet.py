"""A kubelet and a controller of Deployments, as far as a status goes: the test says when Pods are there."""

from typing import Any, Final

from syncret.config.meta import Document
from tests.support.servers.kube.running import KubeApi

DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/{}/deployments"


def deployments(api: KubeApi, namespace: str) -> list[Document]:
    """All Deployments of a namespace."""
    found: list[Document] = api.request("GET", DEPLOYMENTS.format(namespace)).body["items"]
    return found


def roll_out(api: KubeApi, namespace: str, *, available: bool = True) -> None:
    """Let every Deployment of a namespace be rolled out in its newest version, its Pods available or not."""
    for each in deployments(api, namespace):
        replicas = each["spec"].get("replicas", 1)
        status: dict[str, Any] = {
            "observedGeneration": each["metadata"]["generation"],
            "replicas": replicas,
            "updatedReplicas": replicas,
            "readyReplicas": replicas if available else 0,
            "availableReplicas": replicas if available else 0,
            "unavailableReplicas": 0 if available else replicas,
        }
        path = f"{DEPLOYMENTS.format(namespace)}/{each['metadata']['name']}/status"
        answer = api.request("PATCH", path, {"status": status})
        assert answer.status == 200, answer
