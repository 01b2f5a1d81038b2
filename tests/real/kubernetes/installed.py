"""An installation on the API server of the tests, and a scenario in which the daemon does all that it can."""

import asyncio
from base64 import b64encode
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.config.meta import Document, member
from syncret.config.resources.switches import not_watched
from syncret.config.settings import Settings
from syncret.daemon.app import RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.other_operator.interlock import Writing, lease_of
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.parts import TargetResource
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.registry import Registry
from syncret.providers.values import SecretBytes
from tests.real.kubernetes.conftest import access_of
from tests.support.servers.kube.running import KubeApi
from tests.support.waiting import until

_ESO: Final = "external-secrets.io"
_GENERATORS: Final = "generators.external-secrets.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_PLACES: Final = {
    "ServiceAccount": "/api/v1",
    "Service": "/api/v1",
    "Secret": "/api/v1",
    "ConfigMap": "/api/v1",
    "Event": "/api/v1",
    "Role": f"/apis/{_RBAC}/v1",
    "RoleBinding": f"/apis/{_RBAC}/v1",
    "ClusterRole": f"/apis/{_RBAC}/v1",
    "ClusterRoleBinding": f"/apis/{_RBAC}/v1",
    "Deployment": "/apis/apps/v1",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1",
    "PodDisruptionBudget": "/apis/policy/v1",
    "NetworkPolicy": "/apis/networking.k8s.io/v1",
    "PushSecret": f"/apis/{_ESO}/v1alpha1",
    "ClusterPushSecret": f"/apis/{_ESO}/v1alpha1",
    "UUID": f"/apis/{_GENERATORS}/v1alpha1",
    "GeneratorState": f"/apis/{_GENERATORS}/v1alpha1",
    "ClusterGenerator": f"/apis/{_GENERATORS}/v1alpha1",
}


def place(kind: str, namespace: str = "", name: str = "") -> str:
    """The path of an object, or of all of a kind."""
    plural = "networkpolicies" if kind == "NetworkPolicy" else f"{kind.lower()}s"
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{_PLACES.get(kind, f'/apis/{_ESO}/v1')}{within}/{plural}{f'/{name}' if name else ''}"


def apply(api: KubeApi, documents: Iterable[Document]) -> None:
    """What an administrator creates of a rendering: all that is accepted without the Prometheus operator."""
    for each in documents:
        api.create(place(each["kind"], each["metadata"].get("namespace", "")), each)


def installation(namespace: str, *, only: bool = False) -> Installation:
    """One of a class of its own: what other tests leave behind is not its business.

    The rights for exports are tried in `tests/real/exports`: this scenario has no resources that export.
    """
    return Installation(
        image="registry.example/syncret:1",
        name=f"i-{namespace}",
        namespace=namespace,
        replicas=2,
        only_namespace=namespace if only else "",
        settings={"controllerClass": namespace, "generatorGcGracePeriod": "100ms", "exports.groups": ""},
        generic_targets=(TargetResource(resources=("configmaps",)),),
    )


class _Nothing(Model):
    """The spec of the generator."""


class Draws(Registry):
    """Everything that is built in; the generator UUID makes something that has to be cleaned up.

    It counts for each namespace: objects that other tests left behind are drawn for, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._numbers = defaultdict[str, "count[int]"](lambda: count(1))

    def generator_type(self, kind: str) -> Generator[_Nothing]:
        if kind != "UUID":
            return super().generator_type(kind)
        return Generator(SpecType("UUID", _Nothing), self._generate, self._cleanup)

    async def _generate(self, spec: _Nothing, context: OpenContext) -> Generated:
        del spec
        number = next(self._numbers[context.store.namespace])
        return Generated({"uuid": SecretBytes(str(number).encode())}, {"id": number})

    async def _cleanup(self, spec: _Nothing, state: Document, context: OpenContext) -> None:
        """There is nothing to do."""


@asynccontextmanager
async def daemon_of(api: KubeApi, wanted: Installation, token: str) -> AsyncGenerator[RunningEngine]:
    """The daemon of the installation, with a token of its account."""
    settings: Settings = wanted.daemon
    registry = Draws()
    lease = lease_of(settings, {"POD_NAME": "one", "POD_NAMESPACE": wanted.namespace})
    async with (
        cluster_home(
            access_of(api, token),
            catalog=registry,
            scope=Scope(settings.namespace, not_watched(settings)),
            writing=Writing(lease=lease),
        ) as home,
        asyncio.TaskGroup() as group,
    ):
        follows = group.create_task(home.run(), name="home")
        async with run_engine(home, registry=registry, settings=settings, clock=Clock()) as engine:
            yield engine
            await engine.engine.synced.wait()  # asyncio loses sockets that are cancelled as they connect
        follows.cancel()


class Scenario:
    """What authors of manifests do, and wait for, in one namespace and the cluster."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self._forced = count(1)

    def create(self, kind: str, name: str, spec: Document, *, shared: bool = False) -> None:
        """An object of ours, in the namespace or cluster-scoped."""
        version = _PLACES.get(kind, f"/apis/{_ESO}/v1").removeprefix("/apis/")
        self.api.create(
            place(kind, "" if shared else self.namespace),
            {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec},
        )

    def core(self, kind: str, name: str, **content: object) -> None:
        """A Secret, ConfigMap or ServiceAccount."""
        document = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **content}
        self.api.create(place(kind, self.namespace), document)

    def sync(self, name: str, **spec: object) -> None:
        """An ExternalSecret; without sources it reads `k` from the store `s`."""
        sources = {} if "dataFrom" in spec else {"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}]}
        stores = {} if "dataFrom" in spec else {"secretStoreRef": {"name": "s"}}
        self.create("ExternalSecret", name, {"refreshInterval": "1h", **stores, **sources, **spec})

    def get(self, kind: str, name: str) -> Document:
        return self.api.get(place(kind, self.namespace, name)) or Document()

    def patch(self, kind: str, name: str, merge: Document, *, shared: bool = False) -> None:
        answer = self.api.request("PATCH", place(kind, "" if shared else self.namespace, name), merge)
        assert answer.status == 200, answer

    def delete(self, kind: str, name: str, *, shared: bool = False) -> None:
        answer = self.api.request("DELETE", place(kind, "" if shared else self.namespace, name))
        assert answer.status == 200, answer

    def all_of(self, kind: str) -> list[Document]:
        found: list[Document] = (self.api.get(place(kind, self.namespace)) or {}).get("items", [])
        return found

    def is_ready(self, kind: str, name: str, *, shared: bool = False) -> bool:
        found = self.api.get(place(kind, "" if shared else self.namespace, name)) or Document()
        conditions: list[Document] = member(found, "status").get("conditions") or []
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    async def ready(self, kind: str, *names: str, shared: bool = False) -> None:
        await until(lambda: all(self.is_ready(kind, name, shared=shared) for name in names))

    async def gone(self, kind: str, name: str, *, shared: bool = False) -> None:
        await until(lambda: self.api.get(place(kind, "" if shared else self.namespace, name)) is None)

    async def play(self, *, everywhere: bool) -> None:
        """Everything, in the namespace alone or also with kinds that concern the cluster."""
        self._stores()
        await self._syncs()
        await self._draws()
        await self._pushes()
        if everywhere:
            await self._fans_out()
        await self._ends()

    @property
    def shared(self) -> str:
        """The name of cluster-scoped objects."""
        return f"c-{self.namespace}"

    def _stores(self) -> None:
        fake = {"fake": {"data": [{"key": "k", "value": "one"}]}}
        own = {"controller": self.namespace}
        self.create("SecretStore", "s", {"provider": fake, **own})
        self.create("ClusterSecretStore", self.shared, {"provider": fake, **own}, shared=True)
        account = self.api.account(
            self.namespace,
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
            {
                "apiGroups": ["authorization.k8s.io"],
                "resources": ["selfsubjectrulesreviews", "selfsubjectaccessreviews"],
                "verbs": ["create"],
            },
        )
        server = {"url": self.api.url, "caBundle": self.api.ca_base64}
        reader = {
            "server": server,
            "remoteNamespace": self.namespace,
            "auth": {"serviceAccount": {"name": account}},
        }
        self.create("SecretStore", "reader", {"provider": {"kubernetes": reader}, **own})

    async def _syncs(self) -> None:
        self.core("Secret", "standing", stringData={"kept": "x"})
        self.core("ConfigMap", "words", data={"b": "{{ .a }}"})
        self.sync("plain", target={"deletionPolicy": "Delete"})
        self.sync("merged", target={"name": "standing", "creationPolicy": "Merge"})
        template = {"templateFrom": [{"configMap": {"name": "words", "items": [{"key": "b"}]}}]}
        self.sync("rendered", target={"template": template})
        manifest = {"apiVersion": "v1", "kind": "ConfigMap"}
        self.sync("generic", target={"manifest": manifest, "deletionPolicy": "Delete"})
        store = {"kind": "ClusterSecretStore", "name": self.shared}
        self.sync("shared", secretStoreRef=store)
        copied = [{"secretKey": "a", "remoteRef": {"key": "standing", "property": "kept"}}]
        self.sync("copied", secretStoreRef={"name": "reader"}, data=copied)
        await self.ready("ExternalSecret", "plain", "merged", "rendered", "generic", "shared", "copied")
        self.patch("Secret", "plain", {"data": {"a": "eA=="}})
        await until(lambda: self.get("Secret", "plain").get("data") == {"a": "b25l"})
        self.patch("ConfigMap", "generic", {"data": {"a": "x"}})
        await until(lambda: self.get("ConfigMap", "generic").get("data") == {"a": "one"})

    async def _draws(self) -> None:
        """Three draws: one is not in use any more then, and is cleaned up soon.

        Only an Event that has been written is patched, so the third waits for the one of the second.
        """
        self.create("UUID", "u", {})
        source = {"sourceRef": {"generatorRef": {"kind": "UUID", "name": "u"}}}
        self.sync("drawn", dataFrom=[source])
        await self._drawn(1)
        seen = self.records()
        for number in (2, 3):
            self.force("drawn")
            await self._drawn(number)
            await until(partial(self._is_told, "drawn", "Updated", number - 1))
            seen |= self.records()
        await until(lambda: seen - self.records())
        spec: Document = {"kind": "UUID", "generator": {"uuidSpec": {}}}
        self.create("ClusterGenerator", self.shared, spec, shared=True)
        source = {"sourceRef": {"generatorRef": {"kind": "ClusterGenerator", "name": self.shared}}}
        self.sync("common", dataFrom=[source])
        await self.ready("ExternalSecret", "common")

    def records(self) -> set[str]:
        """The names of all GeneratorStates."""
        return {each["metadata"]["name"] for each in self.all_of("GeneratorState")}

    def _is_told(self, name: str, reason: str, times: int) -> bool:
        """Whether an Event says so, as often."""
        return any(
            each["involvedObject"]["name"] == name and each["reason"] == reason and each["count"] == times
            for each in self.all_of("Event")
        )

    async def _drawn(self, number: int) -> None:
        encoded = b64encode(str(number).encode()).decode()
        await until(partial(self.has_data, "drawn", {"uuid": encoded}))

    def has_data(self, secret: str, data: Document) -> bool:
        return self.get("Secret", secret).get("data") == data

    def force(self, name: str) -> None:
        """Ask for a refresh now."""
        annotations = {"external-secrets.io/force-sync": str(next(self._forced))}
        self.patch("ExternalSecret", name, {"metadata": {"annotations": annotations}})

    async def _pushes(self) -> None:
        stores = [{"name": "s"}, {"kind": "ClusterSecretStore", "name": self.shared}]
        self.create("PushSecret", "pushed", self.push(stores))
        await self.ready("PushSecret", "pushed")

    def push(self, stores: list[Document]) -> Document:
        data = [{"match": {"secretKey": "kept", "remoteRef": {"remoteKey": "pushed"}}}]
        return {
            "refreshInterval": "1h",
            "deletionPolicy": "Delete",
            "secretStoreRefs": stores,
            "selector": {"secret": {"name": "standing"}},
            "data": data,
        }

    async def _fans_out(self) -> None:
        here = [{"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}]
        spec = {
            "secretStoreRef": {"name": "s"},
            "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
        }
        self.create(
            "ClusterExternalSecret",
            self.shared,
            {"namespaceSelectors": here, "externalSecretName": "child", "externalSecretSpec": spec},
            shared=True,
        )
        pushed = self.push([{"name": "s"}])
        self.create(
            "ClusterPushSecret",
            self.shared,
            {"namespaceSelectors": here, "pushSecretName": "child", "pushSecretSpec": pushed},
            shared=True,
        )
        await self.ready("ExternalSecret", "child")
        await self.ready("PushSecret", "child")
        for kind, field in (
            ("ClusterExternalSecret", "externalSecretSpec"),
            ("ClusterPushSecret", "pushSecretSpec"),
        ):
            await self.ready(kind, self.shared, shared=True)
            self.patch(kind, self.shared, {"spec": {field: {"refreshInterval": "2h"}}}, shared=True)
        for kind in ("ExternalSecret", "PushSecret"):
            await until(partial(self.has_interval, kind, "2h"))
        nowhere = [{"matchLabels": {"kubernetes.io/metadata.name": "nowhere"}}]
        for kind in ("ClusterExternalSecret", "ClusterPushSecret"):
            self.patch(kind, self.shared, {"spec": {"namespaceSelectors": nowhere}}, shared=True)
        for kind in ("ExternalSecret", "PushSecret"):
            await self.gone(kind, "child")
        self.delete("ClusterExternalSecret", self.shared, shared=True)
        await self.gone("ClusterExternalSecret", self.shared, shared=True)

    def has_interval(self, kind: str, interval: str) -> bool:
        return bool(self.get(kind, "child")["spec"]["refreshInterval"] == interval)

    async def _ends(self) -> None:
        """Finalizers are taken off, and what was made goes."""
        self.delete("PushSecret", "pushed")
        await self.gone("PushSecret", "pushed")
        self.delete("ExternalSecret", "plain")
        await self.gone("ExternalSecret", "plain")
        await self.gone("Secret", "plain")
        self.delete("ExternalSecret", "generic")
        await self.gone("ConfigMap", "generic")
        self.delete("ExternalSecret", "drawn")
        await self.gone("ExternalSecret", "drawn")
        await until(lambda: not self.finalizers("SecretStore", "s", self.namespace))
        await until(lambda: not self.finalizers("ClusterSecretStore", self.shared))

    def finalizers(self, kind: str, name: str, namespace: str = "") -> list[str]:
        found = self.api.get(place(kind, namespace, name)) or Document()
        held: list[str] = member(found, "metadata").get("finalizers") or []
        return held

    def sweep(self) -> None:
        """Remove what concerns the cluster: the next daemon would see to it."""
        for kind in ("ClusterExternalSecret", "ClusterPushSecret", "ClusterGenerator", "ClusterSecretStore"):
            path = place(kind, "", self.shared)
            self.api.request("PATCH", path, {"metadata": {"finalizers": []}})
            self.api.request("DELETE", path)
