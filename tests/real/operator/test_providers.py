"""Six secret managers and the cluster itself, read by the daemon that the operator has installed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from syncret.config.meta import Document, is_object, member
from tests.real.operator.managers import PROPERTY, Manager, managers
from tests.real.operator.node import Node
from tests.real.operator.operating import Operated, condition, operating
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

GROUP = "/apis/external-secrets.io/v1/namespaces/{}"


class Tenant:
    """A namespace with stores, and ExternalSecrets that read them."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self._api = api
        self._group = GROUP.format(namespace)
        self._secrets = f"/api/v1/namespaces/{namespace}/secrets"

    def add(self, manager: Manager, login: Mapping[str, str], name: str) -> None:
        """A store that logs in so, and an ExternalSecret that reads it."""
        provider = renamed(manager.provider, manager.name, name)
        self._api.create(self._secrets, {"metadata": {"name": name}, "stringData": dict(login)})
        self._create("SecretStore", name, {"provider": provider})
        data = [{"secretKey": "v", "remoteRef": {"key": manager.key, "property": PROPERTY}}]
        spec = {"secretStoreRef": {"name": name}, "refreshInterval": "1h", "data": data}
        self._create("ExternalSecret", f"from-{name}", spec)

    def refresh(self, name: str) -> None:
        """Ask for the value of now."""
        annotations = {"external-secrets.io/force-sync": "now"}
        path = f"{self._group}/externalsecrets/from-{name}"
        assert self._api.request("PATCH", path, {"metadata": {"annotations": annotations}}).status == 200

    def value(self, name: str) -> str:
        """What was synced, as it is stored."""
        return str(member(self._api.get(f"{self._secrets}/from-{name}") or {}, "data").get("v", ""))

    def has(self, name: str, value: str) -> bool:
        """Whether this value was synced, and its ExternalSecret says so."""
        return (
            self.value(name) == value
            and self.ready("externalsecrets", f"from-{name}").get("status") == "True"
        )

    def ready(self, plural: str, name: str) -> Document:
        """The condition Ready."""
        return condition(self._api.get(f"{self._group}/{plural}/{name}"))

    def _create(self, kind: str, name: str, spec: Document) -> None:
        head = {"apiVersion": "external-secrets.io/v1", "kind": kind, "metadata": {"name": name}}
        self._api.create(f"{self._group}/{kind.lower()}s", {**head, "spec": spec})


def renamed(document: Document, old: str, new: str) -> Document:
    """The same with another Secret's name in its references."""
    return {
        name: renamed(value, old, new)
        if is_object(value)
        else (new if (name, value) == ("name", old) else value)
        for name, value in document.items()
    }


async def test_each_syncs_changes_and_is_told_what_is_wrong(
    api: KubeApi, namespace: str, tmp_path: Path
) -> None:
    """The daemon finds them by variables that the configuration gives to it."""
    async with managers(api, namespace) as chosen, operating(api, namespace) as operated:
        await operated.install(controllerConfig={"componentConfigs": [overriding(chosen)]})
        tenant = Tenant(api, namespace)
        for each in chosen:
            await each.put("first")
            tenant.add(each, each.login, each.name)
            tenant.add(each, dict.fromkeys(each.login, "wrong"), f"{each.name}-wrong")
        async with running(Node(api, tmp_path)):
            await synced(operated, tenant, chosen, "Zmlyc3Q=")
            for each in chosen:
                await each.put("second")
                tenant.refresh(each.name)
            await synced(operated, tenant, chosen, "c2Vjb25k")
            for each in chosen:
                wrong = f"{each.name}-wrong"
                await operated.until(lambda: tenant.ready("externalsecrets", f"from-{wrong}"), wrong)  # noqa: B023
                found = tenant.ready("externalsecrets", f"from-{wrong}")
                assert (found["status"], found["reason"]) == ("False", "SecretSyncedError"), each.name
                told = f"{found['message']}; {tenant.ready('secretstores', wrong)['message']}"
                assert each.refusal in told, each.name
                assert not tenant.value(wrong)


@asynccontextmanager
async def running(node: Node) -> AsyncGenerator[None]:
    """The daemon at work; its managers answer while it ends."""
    stack = ExitStack()
    node.run("external-secrets", stack)
    try:
        yield
    finally:
        await asyncio.to_thread(stack.close)


async def synced(operated: Operated, tenant: Tenant, chosen: Sequence[Manager], value: str) -> None:
    """Wait until all have the value."""
    for each in chosen:
        await operated.until(lambda: tenant.has(each.name, value), f"{each.name} is synced")  # noqa: B023


def overriding(chosen: Sequence[Manager]) -> Document:
    """What gives the daemon all their variables."""
    variables = {name: value for each in chosen for name, value in each.variables.items()}
    env = [{"name": name, "value": value} for name, value in sorted(variables.items())]
    return {"componentName": "ExternalSecretsCoreController", "overrideEnv": env}
