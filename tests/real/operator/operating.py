"""What an administrator does with the operator, and what everybody sees of it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from syncret.config.meta import Document, member
from syncret.config.settings import Settings
from syncret.daemon.install.operator.choices import Environment
from syncret.daemon.operator.opening import RunningOperator, running_operator
from syncret.providers.kit.http import Tls
from tests.real.kubernetes.conftest import access_of
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import ADMIN, KubeApi

WITHIN: Final = 60.0
GROUP: Final = "/apis/operator.openshift.io/v1alpha1"
CONFIG: Final = f"{GROUP}/externalsecretsconfigs/cluster"
MANAGER: Final = f"{GROUP}/externalsecretsmanagers/cluster"
OPERAND: Final = "external-secrets"
"""The namespace of the installation. Namespaces stay: nobody ends one on a test server."""

OURS: Final = "labelSelector=app.kubernetes.io/part-of%3Dexternal-secrets-operator"
_RIGHTS: Final = "/apis/rbac.authorization.k8s.io/v1"
PLACES: Final = (
    f"/apis/networking.k8s.io/v1/namespaces/{OPERAND}/networkpolicies",
    f"/api/v1/namespaces/{OPERAND}/serviceaccounts",
    f"/api/v1/namespaces/{OPERAND}/secrets",
    f"/api/v1/namespaces/{OPERAND}/configmaps",
    f"{_RIGHTS}/clusterroles",
    f"{_RIGHTS}/clusterrolebindings",
    f"{_RIGHTS}/namespaces/{OPERAND}/roles",
    f"{_RIGHTS}/namespaces/{OPERAND}/rolebindings",
    f"/api/v1/namespaces/{OPERAND}/services",
    f"/apis/apps/v1/namespaces/{OPERAND}/deployments",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
)
SETTINGS: Final = Settings(kubernetes=True, output_dir="", state_file="")
IMAGE: Final = "registry.example.com/syncret:1.2.3"


def environment(namespace: str, version: str = "1.2.3") -> Environment:
    """What the operator of the tests knows; it runs in that namespace."""
    return Environment(
        image=f"registry.example.com/syncret:{version}",
        version=version,
        namespace=namespace,
        bitwarden_image="registry.example.com/bitwarden:0.5",
        bitwarden_version="0.5",
    )


class Administrator:
    """Who looks after a cluster with an operator."""

    def __init__(self, api: KubeApi) -> None:
        self.api = api

    async def configure(self, **spec: object) -> None:
        """Create the configuration, or replace its spec."""
        document: Document = {
            "apiVersion": "operator.openshift.io/v1alpha1",
            "kind": "ExternalSecretsConfig",
            "metadata": {"name": "cluster"},
            "spec": spec,
        }
        standing = self.api.get(CONFIG)
        if standing is None:
            self.api.create(CONFIG.rpartition("/")[0], document)
            return
        document["metadata"] = standing["metadata"]
        answer = self.api.request("PUT", CONFIG, document)
        assert answer.status == 200, answer

    def condition(self, type_: str = "Ready") -> Document:
        """A condition of the configuration; an empty one if there is none."""
        return condition(self.api.get(CONFIG), type_)

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait for something to come true on the API server."""
        end = asyncio.get_running_loop().time() + WITHIN
        while not holds():
            assert asyncio.get_running_loop().time() < end, f"{what}: {self.condition()}"
            await asyncio.sleep(0.05)

    async def until_ready(self, status: str, *words: str) -> None:
        """Wait for the condition Ready of the configuration as it is now."""

        def holds() -> bool:
            config = self.api.get(CONFIG) or {}
            ready = condition(config)
            seen = ready.get("observedGeneration") == member(config, "metadata").get("generation")
            return seen and ready["status"] == status and all(word in ready["message"] for word in words)

        await self.until(holds, f"Ready is {status} {words}")

    async def install(self, **spec: object) -> None:
        """Configure, play the kubelet, and wait until everything is in order."""
        await self.configure(**spec)
        await self.until_ready("False", "waits for Deployment")
        roll_out(self.api, OPERAND)
        await self.until_ready("True")


class Operated(Administrator):
    """The same, with the operator in this process."""

    def __init__(self, api: KubeApi, running: RunningOperator, registry: CollectorRegistry) -> None:
        super().__init__(api)
        self.running = running
        self._registry = registry

    def ready(self) -> float:
        """What its metric says."""
        found = self._registry.get_sample_value("syncret_operator_ready")
        assert found is not None
        return found


def condition(document: Any, type_: str = "Ready") -> Document:  # noqa: ANN401  # an object or None
    """A condition of an object; an empty one if there is none."""
    found: Document = {}
    for each in member(document or {}, "status").get("conditions", ()):
        if each["type"] == type_:
            found = each
    return found


def installed(api: KubeApi) -> dict[str, Document]:
    """All that is installed, but the namespace, by its path."""
    return {
        f"{place}/{each['metadata']['name']}": each
        for place in PLACES
        for each in api.request("GET", f"{place}?{OURS}").body["items"]
    }


def versions(api: KubeApi) -> dict[str, str]:
    """The resource version of each."""
    return {path: each["metadata"]["resourceVersion"] for path, each in installed(api).items()}


def events(api: KubeApi, reason: str) -> Sequence[str]:
    """The messages of the configuration's events of one reason."""
    every = api.request("GET", "/api/v1/namespaces/default/events").body["items"]
    return [
        each["message"]
        for each in every
        if each["involvedObject"]["kind"] == "ExternalSecretsConfig" and each["reason"] == reason
    ]


def remove_installation(api: KubeApi) -> None:
    """Nothing is configured or installed any more."""
    for path in (CONFIG, MANAGER, *installed(api)):
        api.request("DELETE", path)
    api.request("DELETE", f"/apis/apps/v1/namespaces/{OPERAND}/deployments")  # others' too
    for each in api.request("GET", "/api/v1/namespaces/default/events").body["items"]:
        api.request("DELETE", f"/api/v1/namespaces/default/events/{each['metadata']['name']}")


ALLOWING: Final[Document] = {"name": "x", "componentName": "ExternalSecretsCoreController", "egress": [{}]}
"""A NetworkPolicy of the user, with which all others begin."""


@asynccontextmanager
async def operating(
    api: KubeApi,
    namespace: str,
    *,
    version: str = "1.2.3",
    token: str = ADMIN,
    settings: Settings = SETTINGS,
    url: str = "",
) -> AsyncGenerator[Operated]:
    """The operator at work in a namespace of its own; `url`: another way to the API server."""
    access, registry = access_of(api, token), CollectorRegistry()
    async with running_operator(
        access if not url else replace(access, server=url, tls=Tls()),
        settings,
        environment(namespace, version),
        namespace=OPERAND,
        registry=registry,
        own_namespace=namespace,
    ) as running:
        yield Operated(api, running, registry)
