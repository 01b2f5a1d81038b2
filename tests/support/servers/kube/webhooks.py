"""Registers the webhook at the API server of the tests: there are no Services, so it is called by URL."""

from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from syncret.daemon.core.webhook_names import PATHS
from tests.support.servers.kube.crds import until
from tests.support.servers.kube.running import KubeApi

CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAMES: Final = ("secretstore-validate", "externalsecret-validate")


REFUSED: Final = {
    "apiVersion": "external-secrets.io/v1",
    "kind": "ExternalSecret",
    "metadata": {"name": "refused-by-the-webhook-alone", "namespace": "default"},
    "spec": {"data": 2 * [{"secretKey": "a", "remoteRef": {"key": "k"}}]},
}
_SYNCS: Final = "/apis/external-secrets.io/v1/namespaces/default/externalsecrets?dryRun=All"


def configurations(port: int, bundle: bytes = b"") -> Generator[dict[str, Any]]:
    """The two configurations; without a bundle, as they are before anybody has told whom to trust."""
    trust = {"caBundle": b64encode(bundle).decode()} if bundle else {}
    for name in NAMES:
        webhooks = [
            {
                "name": f"validate.{kind.kind.lower()}.external-secrets.io",
                "clientConfig": {"url": f"https://127.0.0.1:{port}{path}", **trust},
                "rules": [
                    {
                        "apiGroups": [kind.group],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": [f"{kind.kind.lower()}s"],
                    }
                ],
                "admissionReviewVersions": ["v1", "v1beta1"],
                "sideEffects": "None",
                "timeoutSeconds": 5,
                "failurePolicy": "Fail",
            }
            for path, kind in PATHS.items()
            if ("store" in path) == name.startswith("secretstore")
        ]
        labels = {"external-secrets.io/component": "webhook"}
        yield {"metadata": {"name": name, "labels": labels}, "webhooks": webhooks}


@contextmanager
def registered(api: KubeApi, port: int, bundle: bytes = b"") -> Generator[None]:
    """The API server asks a webhook at this port, until the block is left; it answers as long as that."""
    try:
        for each in configurations(port, bundle):
            api.create(CONFIGURATIONS, each)
        yield
    finally:
        for name in NAMES:
            api.request("DELETE", f"{CONFIGURATIONS}/{name}")
        until(lambda: api.request("POST", _SYNCS, REFUSED).status == 201, "the webhook is forgotten")


def refuses(api: KubeApi) -> bool:
    """Whether the webhook is asked, and answers."""
    answer = api.request("POST", _SYNCS, REFUSED)
    return answer.status == 403 and "duplicate secretKey" in str(answer.body.get("message"))


def trusts(api: KubeApi) -> bool:
    """Whether every webhook has been told whom to trust."""
    found = (api.get(f"{CONFIGURATIONS}/{name}") or {} for name in NAMES)
    return all(each["clientConfig"].get("caBundle") for one in found for each in one["webhooks"])
