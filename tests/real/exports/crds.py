"""CRDs with the shapes of Azure Service Operator's: as much of them as exports look at."""

from typing import Final

from syncret.config.meta import Document
from tests.support.servers.kube.crds import CRDS, until
from tests.support.servers.kube.running import KubeApi

_OPEN: Final[Document] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def crd(group: str, kind: str, plural: str, version: str = "v1") -> Document:
    """The CRD of one kind, with a status apart."""
    schema: Document = {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def install(api: KubeApi, document: Document) -> str:
    """Install a CRD; returns the path of its group and version once it is served."""
    spec = document["spec"]
    api.create(CRDS, document)
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
    plural = spec["names"]["plural"]
    until(lambda: api.request("GET", f"{path}/{plural}").status == 200, f"{plural} are served")
    return path


def remove(api: KubeApi, document: Document) -> None:
    """Remove a CRD, and with it all of its objects."""
    path = f"{CRDS}/{document['metadata']['name']}"
    api.request("DELETE", path)
    until(lambda: api.get(path) is None, f"{document['metadata']['name']} is gone")
