"""A real kubectl, with the CRDs and the manifests that we give away."""

from typing import Final

import pytest
import yaml

from syncret.config.resources.kinds import HOST_KINDS
from syncret.config.schema.crds import crd
from syncret.daemon.cli.main import main
from syncret.providers.registry import Registry
from tests.real.apiserver.samples import KINDS, samples
from tests.real.apiserver.server import Server, server_with_crds
from tests.support.servers.kube.crds import CRDS, collection, in_group
from tests.support.servers.kube.kubectl import kubectl

pytestmark = pytest.mark.slow

REGISTRY: Final = Registry()
FULL_NAME: Final = "externalsecrets.v1.external-secrets.io"
"""Other tests of the run may have kinds of that name in groups of their own."""


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_crds(REGISTRY)


@pytest.mark.parametrize("flags", [[], ["--serve-v1beta1"], ["--compat"]], ids=" ".join)
def test_crds_are_applied_by_the_client(
    server: Server, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """Client-side: the annotation with its copy of each CRD must fit."""
    assert main(["export", "crds", *flags]) == 0
    exported = capsys.readouterr().out
    printed = kubectl(server.api, "apply", "--dry-run=server", "-f", "-", documents=exported)
    assert len(printed.splitlines()) == len(KINDS) + len(HOST_KINDS)
    assert "--server-side" not in printed


def test_a_conversion_webhook_is_replaced(server: Server) -> None:
    """As CRDs of old installations name one."""
    ours = in_group(crd(KINDS["ExternalSecret"], REGISTRY), "converted.example")
    service = {"name": "webhook", "namespace": "default", "path": "/convert"}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}
    old = {**ours, "spec": {**ours["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}
    server.api.create(CRDS, old)
    kubectl(server.api, "replace", "-f", "-", documents=yaml.dump(ours))
    standing = server.api.get(f"{CRDS}/externalsecrets.converted.example") or {}
    assert standing["spec"]["conversion"] == {"strategy": "None"}


def test_every_sample_is_applied(server: Server) -> None:
    documents = yaml.dump_all(samples())
    printed = kubectl(
        server.api, "apply", "--dry-run=server", "--validate=strict", "-f", "-", documents=documents
    )
    assert len(printed.splitlines()) == len(samples())


def test_get_and_explain(server: Server) -> None:
    namespace = server.api.namespace()
    sample = next(each for each in samples() if each["kind"] == "ExternalSecret")
    server.api.create(collection(KINDS["ExternalSecret"], namespace), sample)
    header, row = kubectl(server.api, "get", FULL_NAME, "--namespace", namespace).splitlines()
    assert " ".join(header.split()) == "NAME STORETYPE STORE REFRESH INTERVAL STATUS READY LAST SYNC"
    assert row.split()[:2] == ["sample", "vault"]

    field = "externalsecret.spec.target.creationPolicy"
    explained = kubectl(server.api, "explain", "--api-version=external-secrets.io/v1", field)
    assert "Owner makes the target and deletes it with the ExternalSecret" in " ".join(explained.split())
