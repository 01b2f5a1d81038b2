"""An API server of its own for releases, which concern the whole cluster."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from syncret.config.meta import Document
from tests.support.servers.helm import running as helm
from tests.support.servers.kube.crds import CRDS, until
from tests.support.servers.kube.running import ADMIN, KubeApi

NAMESPACES = ("ops", "external-secrets", "payments", "monitoring", "leases", "other")
FOREIGN = (
    ("monitoring.coreos.com", "ServiceMonitor", "servicemonitors"),
    ("cert-manager.io", "Certificate", "certificates"),
)
"""Kinds of others, which only their operators would define."""


class Cluster:
    """A cluster as Helm sees it."""

    def __init__(self, api: KubeApi, authority: Path) -> None:
        self.api = api
        self._access = (
            f"--kube-apiserver={api.url}",
            f"--kube-token={ADMIN}",
            f"--kube-ca-file={authority}",
        )

    def helm(self, values: Document, *arguments: str) -> str:
        """What a command prints that must succeed."""
        done = helm.run_with(values, *arguments, *self._access)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def uninstall(self, release: str, namespace: str) -> None:
        done = helm.run("uninstall", release, "--namespace", namespace, *self._access)
        assert done.returncode == 0, done.stderr

    def names(self, path: str) -> Sequence[str]:
        """The names of all objects of a kind."""
        found = self.api.get(path) or {}
        return [each["metadata"]["name"] for each in found["items"]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    api = KubeApi()
    try:
        for name in NAMESPACES:
            metadata = {"metadata": {"name": name}}
            api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", **metadata})
        for group, kind, plural in FOREIGN:
            define(api, group, kind, plural)
        with tempfile.TemporaryDirectory() as folder:
            authority = Path(folder) / "ca.crt"
            authority.write_bytes(api.ca)
            yield Cluster(api, authority)
    finally:
        api.stop()


def define(api: KubeApi, group: str, kind: str, plural: str) -> None:
    """A CRD that takes any spec."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        },
    }
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    api.create(
        CRDS,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
        },
    )
    until(lambda: api.request("GET", f"/apis/{group}/v1/{plural}").status == 200, f"{kind} is served")
