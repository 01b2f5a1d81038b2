"""cert-manager, as far as an installer sees it: its kinds, an issuer, and a Secret for a Certificate."""

from base64 import b64encode
from functools import partial
from typing import Final

from tests.support.servers.kube.crds import CRDS, until
from tests.support.servers.kube.running import KubeApi

GROUP: Final = "/apis/cert-manager.io/v1"


def install_cert_manager(api: KubeApi) -> None:
    """Let the API server have its kinds, of any content."""
    for kind in ("Certificate", "Issuer"):
        plural = f"{kind.lower()}s"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
        spec = {"group": "cert-manager.io", "scope": "Namespaced", "names": names, "versions": [version]}
        document = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.cert-manager.io"},
            "spec": spec,
        }
        api.create(CRDS, document)
        until(partial(_is_served, api, plural), f"{plural} are served")


def remove_cert_manager(api: KubeApi) -> None:
    """Take its kinds away again, with all objects of them."""
    for plural in ("certificates", "issuers"):
        if api.get(f"{CRDS}/{plural}.cert-manager.io") is not None:
            api.request("DELETE", f"{CRDS}/{plural}.cert-manager.io")
            until(partial(_is_gone, api, plural), f"{plural} are gone")


def _is_served(api: KubeApi, plural: str) -> bool:
    return api.request("GET", f"{GROUP}/{plural}").status == 200


def _is_gone(api: KubeApi, plural: str) -> bool:
    return api.get(f"{CRDS}/{plural}.cert-manager.io") is None


def issue(api: KubeApi, namespace: str, secret: str, authority: str) -> None:
    """What cert-manager writes once it has issued a certificate."""
    values = {"tls.crt": "certificate", "tls.key": "key", "ca.crt": authority}
    data = {name: b64encode(value.encode()).decode() for name, value in values.items()}
    path = f"/api/v1/namespaces/{namespace}/secrets"
    document = {"metadata": {"name": secret}, "type": "kubernetes.io/tls", "data": data}
    if api.get(f"{path}/{secret}") is None:
        api.create(path, document)
    else:
        assert api.request("PATCH", f"{path}/{secret}", {"data": data}).status == 200
