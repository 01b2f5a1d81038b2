"""Names and labels of the objects of an installation."""

from collections.abc import Mapping
from typing import Final

from syncret.config.meta import Document
from syncret.daemon.install.installation import NOTHING, Installation

AUTHORIZATION: Final = "rbac.authorization.k8s.io/v1"


def selector(installation: Installation) -> Mapping[str, str]:
    """The labels that the Pods are found by; a Deployment cannot change them later."""
    return {"app.kubernetes.io/name": "syncret", "app.kubernetes.io/instance": installation.name}


def named(
    installation: Installation,
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str = "",
    labels: Mapping[str, str] = NOTHING,
    annotations: Mapping[str, str] = NOTHING,
) -> Document:
    """The head of an object; without a namespace it is cluster-scoped."""
    metadata: Document = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {**installation.labels, **labels, **selector(installation)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
