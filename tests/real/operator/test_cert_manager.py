"""Certificates of cert-manager in the place of our own, over a running installation."""

from base64 import b64decode, b64encode
from collections.abc import Generator

import pytest

from syncret.config.meta import Document, member
from syncret.daemon.operator.handover import INJECT
from tests.real.operator.operating import CONFIG, OPERAND, installed, operating, versions
from tests.support.servers.kube.cert_manager import GROUP, install_cert_manager, issue, remove_cert_manager
from tests.support.servers.kube.crds import CRDS
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

ISSUER = {"name": "ca", "kind": "Issuer", "group": "cert-manager.io"}
SECRET = "external-secrets-webhook-cm"
VALIDATE = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/externalsecret-validate"
OLD, NEW = "the authority that was there", "the authority of cert-manager"


@pytest.fixture
def without(api: KubeApi) -> Generator[KubeApi]:
    """An API server without cert-manager, of which nothing is left afterwards."""
    remove_cert_manager(api)
    yield api
    remove_cert_manager(api)
    api.request("DELETE", f"/api/v1/namespaces/{OPERAND}/secrets/{SECRET}")


def chosen(*, inject: bool = False) -> Document:
    switch = {"enabled": "true", "issuerRef": ISSUER, "addInjectorAnnotations": "true" if inject else "false"}
    return {"certManagerConfig": switch}


def bundle(api: KubeApi) -> str:
    found = api.get(VALIDATE)
    assert found is not None
    return b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", "")).decode()


def names(api: KubeApi) -> set[str]:
    return {path.rpartition("/")[2] for path in installed(api) if "/deployments/" in path}


async def test_cert_manager_takes_over_step_by_step(without: KubeApi, namespace: str) -> None:
    api = without
    async with operating(api, namespace) as operated:
        await operated.install()
        found = api.get(VALIDATE)
        assert found is not None
        webhooks = [
            {**each, "clientConfig": {**each["clientConfig"], "caBundle": b64encode(OLD.encode()).decode()}}
            for each in found["webhooks"]
        ]
        assert api.request("PATCH", VALIDATE, {"webhooks": webhooks}).status == 200
        before = versions(api)
        await operated.configure(appConfig=chosen())
        await operated.until_ready("False", "cert-manager is to issue certificates")
        assert operated.condition("Degraded")["status"] == "True"
        install_cert_manager(api)
        await operated.until_ready("False", "Issuer/external-secrets/ca is not there")
        assert versions(api) == before
        metadata = {"name": "ca", "namespace": OPERAND}
        body = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": metadata}
        api.create(f"{GROUP}/namespaces/{OPERAND}/issuers", body)
        await operated.until_ready("False", "waits for cert-manager")
        assert api.get(f"{GROUP}/namespaces/{OPERAND}/certificates/external-secrets-webhook") is not None
        assert versions(api) == before  # nothing old is touched until there is a certificate
        issue(api, OPERAND, SECRET, NEW)
        await operated.until_ready("False", "waits for Deployment external-secrets-webhook")
        assert bundle(api) == f"{OLD}\n{NEW}"
        assert names(api) == {"external-secrets", "external-secrets-webhook"}
        assert any(
            path.endswith("serviceaccounts/external-secrets-cert-controller") for path in installed(api)
        )
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        assert bundle(api) == NEW
        assert not [path for path in installed(api) if "cert-controller" in path]
        assert f"/api/v1/namespaces/{OPERAND}/secrets/external-secrets-webhook" not in installed(api)
        issue(api, OPERAND, SECRET, "the next authority")
        await operated.until(lambda: bundle(api) == "the next authority", "a rotation is followed")
        settled = versions(api)
        config = api.get(CONFIG)
        assert config is not None
        await operated.configure()
        await operated.configure(appConfig={"certManagerConfig": {"enabled": "false"}})  # around the rule
        await operated.until_ready("False", "cannot be switched off")
        assert versions(api) == settled


async def test_cert_manager_is_asked_to_inject_its_authority(without: KubeApi, namespace: str) -> None:
    api = without
    install_cert_manager(api)
    async with operating(api, namespace) as operated:
        await operated.configure(appConfig=chosen(inject=True))
        await operated.until_ready("False", "Issuer/external-secrets/ca is not there")
        metadata = {"name": "ca", "namespace": OPERAND}
        if api.get(f"/api/v1/namespaces/{OPERAND}") is None:
            api.create("/api/v1/namespaces", {"metadata": {"name": OPERAND}})
        body = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": metadata}
        api.create(f"{GROUP}/namespaces/{OPERAND}/issuers", body)
        await operated.until_ready("False", "waits for cert-manager", "external-secrets-webhook")
        issue(api, OPERAND, SECRET, NEW)
        await operated.until_ready("False", "waits for Deployment")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        found = api.get(VALIDATE)
        assert found is not None
        inject = found["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
        assert inject == f"{OPERAND}/external-secrets-webhook"
        crd = f"{CRDS}/externalsecrets.external-secrets.io"
        assert operated.condition("UpdateAnnotation")["reason"] == "Completed"
        assert annotation(api, crd) == f"{OPERAND}/external-secrets-webhook"
        assert annotation(api, f"{CRDS}/issuers.cert-manager.io") is None
        assert api.request("PATCH", crd, {"metadata": {"annotations": {INJECT: None}}}).status == 200
        await operated.until(lambda: annotation(api, crd), "it is brought back")
        await operated.configure(appConfig=chosen(inject=False))
        await operated.until_ready("True")
        assert annotation(api, crd) is None
        assert operated.condition("UpdateAnnotation") == {}


def annotation(api: KubeApi, path: str) -> object:
    """What an object asks cert-manager to inject."""
    return member(api.get(path) or {}, "metadata", "annotations").get(INJECT)
