"""Registers the webhook at the API server of the tests: there are no Services, so it is called by URL."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from syncret.daemon.admission.review import PATHS
from tests.support.servers.kube.running import KubeApi

CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAMES: Final = ("secretstore-validate", "externalsecret-validate")


def configurations(port: int) -> Generator[dict[str, Any]]:
    """The two configurations, as they are before anybody has told whom to trust."""
    for name in NAMES:
        webhooks = [
            {
                "name": f"validate.{kind.kind.lower()}.external-secrets.io",
                "clientConfig": {"url": f"https://127.0.0.1:{port}{path}"},
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
def registered(api: KubeApi, port: int) -> Generator[None]:
    """The API server asks a webhook at this port, until the block is left."""
    try:
        for each in configurations(port):
            api.create(CONFIGURATIONS, each)
        yield
    finally:
        for name in NAMES:
            api.request("DELETE", f"{CONFIGURATIONS}/{name}")


def trusts(api: KubeApi) -> bool:
    """Whether every webhook has been told whom to trust."""
    found = (api.get(f"{CONFIGURATIONS}/{name}") or {} for name in NAMES)
    return all(each["clientConfig"].get("caBundle") for one in found for each in one["webhooks"])
