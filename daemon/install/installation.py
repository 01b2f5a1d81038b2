"""Everything that can be chosen about an installation in a cluster, and what is wrong with a choice.

Who renders has values of another form (flags, a chart's values): one mapping makes them an Installation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.settings import Settings
from syncret.config.settings_layers import LayerValue, load_settings

UID: Final = 65532
"""The user of the image."""

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_NAME: Final = 40
"""Leaves room for what is appended, in names of at most 63 characters."""
_LONGEST_NAMESPACE: Final = 63
_IMAGE: Final = re.compile(r"[^\s:@]+(:[0-9]+/[^\s:@]+)?(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?")
_FIXED: Final = ("kubernetes", "namespace", "listen", "allowGenericTargets")
"""Settings that follow from other members of an installation."""


def _empty() -> Document:
    return {}


class ServiceAccount(Struct, frozen=True, kw_only=True):
    """The account that the daemon has at the API server."""

    create: bool = True
    name: str = ""
    """Empty: that of the installation."""
    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    """A cloud finds its identity for the account here."""


class Rbac(Struct, frozen=True, kw_only=True):
    """Which roles are made."""

    create: bool = True
    """Whether there are roles for the daemon."""
    tokens: bool = True
    """Whether it may issue tokens of ServiceAccounts, with which stores log in (`serviceAccountRef`)."""
    aggregate: bool = True
    """Whether Kubernetes' own roles view, edit and admin extend to our kinds; not in one namespace alone."""


class TargetResource(Struct, frozen=True, kw_only=True):
    """Resources besides Secrets that ExternalSecrets may write (`target.manifest`)."""

    group: str = ""
    resources: Sequence[str]
    """As in a role: in lower case, in the plural."""


def _resources() -> Document:
    return {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "256Mi"}}


def _as_nobody() -> Document:
    ids = {"runAsUser": UID, "runAsGroup": UID, "fsGroup": UID}
    return {"runAsNonRoot": True, **ids, "seccompProfile": {"type": "RuntimeDefault"}}


def _confined() -> Document:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


class Pod(Struct, frozen=True, kw_only=True):
    """How the daemon's Pods are made; documents are those of Kubernetes' PodSpec."""

    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    pull_policy: str = "IfNotPresent"
    pull_secrets: Sequence[str] = ()
    resources: Document = field(default_factory=_resources)
    security_context: Document = field(default_factory=_as_nobody)
    container_security_context: Document = field(default_factory=_confined)
    env: Sequence[Document] = ()
    volumes: Sequence[Document] = ()
    volume_mounts: Sequence[Document] = ()
    init_containers: Sequence[Document] = ()
    containers: Sequence[Document] = ()
    """More containers beside the daemon's."""
    spec: Document = field(default_factory=_empty)
    """Other members of the PodSpec, such as nodeSelector, tolerations, affinity, priorityClassName."""


class Deployment(Struct, frozen=True, kw_only=True):
    """How the Deployment replaces Pods."""

    annotations: Mapping[str, str] = NOTHING
    revision_history_limit: int = 10
    strategy: Document = field(default_factory=_empty)
    """Empty: a replica without an election ends before the next begins, others are replaced one by one."""


class MetricsService(Struct, frozen=True, kw_only=True):
    """The Service through which metrics are scraped."""

    annotations: Mapping[str, str] = NOTHING
    ip_family_policy: str = ""
    ip_families: Sequence[str] = ()


class NetworkPolicy(Struct, frozen=True, kw_only=True):
    """Who may connect to the daemon's port, and where the daemon may connect to."""

    clients: Sequence[Document] = ()
    """Peers that may connect; none named: everybody may."""
    egress: Sequence[Document] = ()
    """Rules of where it may connect to; none named: anywhere, as secret managers are anywhere."""


class ServiceMonitor(Struct, frozen=True, kw_only=True):
    """What the Prometheus operator is told about the metrics; its CRD must be there."""

    labels: Mapping[str, str] = NOTHING
    namespace: str = ""
    """Empty: that of the installation."""
    interval: str = "30s"
    scrape_timeout: str = "25s"
    endpoint: Document = field(default_factory=_empty)
    """Other members of the endpoint, such as honorLabels, relabelings, metricRelabelings."""


class Installation(Struct, frozen=True, kw_only=True, dict=True):
    """One installation; `image` has no default, as there is no registry that all could reach."""

    image: str
    name: str = "syncret"
    namespace: str = "syncret"
    replicas: int = 1
    """With several, one is active and the others take over (`leaderElection`)."""
    only_namespace: str = ""
    """The only namespace to work in, by Roles; empty: the whole cluster.

    Cluster-scoped stores and generators still need a ClusterRole, unless `process.clusterStore` is off.
    """
    settings: Mapping[str, str] = NOTHING
    """Settings of the daemon by their dotted names, written as for `--set`."""
    generic_targets: Sequence[TargetResource] = ()
    port: int = 9847
    """The port of metrics and probes."""
    labels: Mapping[str, str] = NOTHING
    """Labels of all objects."""
    service_account: ServiceAccount = ServiceAccount()
    rbac: Rbac = Rbac()
    pod: Pod = Pod()
    deployment: Deployment = Deployment()
    metrics_service: MetricsService | None = MetricsService()
    min_available: int | str | None = None
    """How many Pods (or which share, `50%`) an eviction has to leave; None: no PodDisruptionBudget."""
    network_policy: NetworkPolicy | None = None
    service_monitor: ServiceMonitor | None = None

    @property
    def account(self) -> str:
        """The name of the ServiceAccount."""
        return self.service_account.name or self.name

    @property
    def elects(self) -> bool:
        """Whether the active replica is elected; one alone may take part, beside an ESO that does."""
        return self.daemon.leader_election.enabled

    @property
    def arguments(self) -> Mapping[str, str]:
        """All settings that the daemon is started with, besides `--kubernetes` and `--namespace`."""
        followed = {"listen": f":{self.port}"}
        if self.replicas > 1:
            followed["leaderElection.enabled"] = "true"
        if self.generic_targets:
            followed["allowGenericTargets"] = "true"
        return {**followed, **self.settings}

    @cached_property
    def daemon(self) -> Settings:
        """The settings that the daemon will have. Raises ConfigError."""
        defaults = Settings(kubernetes=True, namespace=self.only_namespace)
        flags = (LayerValue(f"settings.{name}", name, text) for name, text in self.arguments.items())
        return load_settings(None, {}, flags, defaults=defaults)


def problems(installation: Installation) -> Iterator[Problem]:
    """What is wrong with the names and numbers of an installation; `daemon` tells of its settings."""
    if not _IMAGE.fullmatch(installation.image):
        yield Problem(path="image", message="is no image", hint="write REPOSITORY:TAG")
    elif ":" not in installation.image.rpartition("/")[2]:
        hint = f"write {installation.image}:TAG: what runs must not change by itself"
        yield Problem(path="image", message="has no tag", hint=hint)
    yield from _bad_name("name", installation.name, _LONGEST_NAME)
    yield from _bad_name("namespace", installation.namespace, _LONGEST_NAMESPACE)
    if installation.only_namespace:
        yield from _bad_name("onlyNamespace", installation.only_namespace, _LONGEST_NAMESPACE)
    if installation.replicas < 0:
        yield Problem(path="replicas", message="is negative", hint="write 1, or 2 to have a standby")
    for name in (*_FIXED, "leaderElection.enabled") if installation.replicas > 1 else _FIXED:
        if name in installation.settings:
            hint = "leave it out: it follows from the other values"
            yield Problem(path=f"settings.{name}", message="is set by the installation", hint=hint)


def _bad_name(path: str, name: str, longest: int) -> Iterator[Problem]:
    if not _LABEL.fullmatch(name) or len(name) > longest:
        hint = f"write at most {longest} of a-z, 0-9 and -, such as syncret"
        yield Problem(path=path, message=f"{name!r} cannot be a name in Kubernetes", hint=hint)
