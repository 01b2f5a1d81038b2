"""Everything that can be chosen about an installation in a cluster, and the checks of these choices.

Flags and a chart's values have other forms: each has one mapping to an Installation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.settings import IN_CLUSTER, Settings
from syncret.config.settings_layers import LayerValue, load_settings
from syncret.daemon.install.parts import (
    NO_FLAGS,
    NOTHING,
    Crds,
    Dashboard,
    Deployment,
    DisruptionBudget,
    MetricsService,
    NetworkPolicy,
    Pod,
    Rbac,
    ServiceAccount,
    ServiceMonitor,
    TargetResource,
    Webhook,
)

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_NAME: Final = 40
"""Leaves room for what is appended, in names of at most 63 characters."""
_LONGEST_NAMESPACE: Final = 63
_IMAGE: Final = re.compile(r"[^\s:@]+(:[0-9]+/[^\s:@]+)?(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?")
_FIXED: Final = (
    *("kubernetes", "namespace", "listen", "healthListen", "outputDir", "allowGenericTargets"),
    *(f"webhook.{name}" for name in ("enabled", "port", "service", "secret", "certDir")),
)
"""Settings that follow from other members of an installation."""


class Installation(Struct, frozen=True, kw_only=True, dict=True):
    """One installation; `image` has no default, as there is no registry that all could reach."""

    image: str
    name: str = "syncret"
    app: str = "syncret"
    """The label app.kubernetes.io/name of all objects, and of the Pods that Services select."""
    instance: str = ""
    """The label app.kubernetes.io/instance, which Services select by, too; empty: the name."""
    namespace: str = "syncret"
    replicas: int = 1
    """With several, one is active and the others take over (`leaderElection`)."""
    only_namespace: str = ""
    """The only namespace to work in, by Roles; empty: the whole cluster.

    Cluster-scoped stores and generators still need a ClusterRole, unless `process.clusterStore` is off.
    """
    settings: Mapping[str, str] = NOTHING
    """Settings of the daemon by their dotted names, written as for `--set`."""
    flags: Mapping[str, Any] = NO_FLAGS
    """More arguments of `syncret run`, without their hyphens, such as those of ESO's controller."""
    generic_targets: Sequence[TargetResource] = ()
    exporting_groups: Sequence[str] | None = None
    """The API groups of the setting `exports.groups`, whose resources are read; None: as the settings say."""
    port: int = 9847
    """The port of metrics, and of probes if they have none of their own."""
    health_port: int = 0
    """The port of probes; 0: that of metrics."""
    labels: Mapping[str, str] = NOTHING
    """Labels of all objects."""
    service_account: ServiceAccount = ServiceAccount()
    rbac: Rbac = Rbac()
    pod: Pod = Pod()
    deployment: Deployment = Deployment()
    ip_family_policy: str = ""
    ip_families: Sequence[str] = ()
    """Of all Services; empty: as the cluster has it."""
    metrics_service: MetricsService | None = MetricsService()
    disruption_budget: DisruptionBudget | None = None
    network_policy: NetworkPolicy | None = None
    service_monitor: ServiceMonitor | None = None
    dashboard: Dashboard | None = None
    webhook: Webhook | None = None
    crds: Crds | None = None
    objects: Sequence[Document] = ()
    """More objects, as they are."""

    @property
    def account(self) -> str:
        """The name of the ServiceAccount."""
        return self.service_account.name or self.name

    @property
    def _settings(self) -> Mapping[str, str]:
        """All settings that the daemon is started with, besides `--kubernetes` and `--namespace`."""
        followed = {"listen": f":{self.port}"}
        if self.health_port:
            followed["healthListen"] = f":{self.health_port}"
        if self.replicas > 1:
            followed["leaderElection.enabled"] = "true"
        if self.generic_targets:
            followed["allowGenericTargets"] = "true"
        if self.webhook is not None and not self.only_namespace and not self.webhook.separate:
            followed["webhook.enabled"] = "true"
            followed["webhook.port"] = str(self.webhook.port)
        return {**followed, **self.settings}

    @cached_property
    def daemon(self) -> Settings:
        """The settings that the daemon will have. Raises ConfigError."""
        defaults = replace(IN_CLUSTER, kubernetes=True, namespace=self.only_namespace)
        flags = (LayerValue(f"settings.{name}", name, text) for name, text in self._settings.items())
        return load_settings(None, {}, flags, defaults=defaults)

    @property
    def values(self) -> Document:
        """Its members as plain values; settings that decide about objects are true or false in one form."""
        process, election = self.daemon.process, self.daemon.leader_election
        decisive = {f"process.{_camel(name)}": value for name, value in asdict(process).items()}
        decisive["leaderElection.enabled"] = election.enabled
        written = {name: str(on).lower() for name, on in decisive.items() if name in self.settings}
        return {
            **_plain(self),
            "settings": {**self.settings, **written},
            "exporting_groups": list(self.daemon.exports.groups),
        }


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.title() for each in rest)


def _plain(value: object) -> Any:  # noqa: ANN401  # anything that an installation consists of
    if isinstance(value, Struct):
        return {name: _plain(each) for name, each in asdict(value).items()}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return value


def problems(installation: Installation) -> Iterator[Problem]:
    """What is wrong with the names and numbers of an installation; its settings are checked in `daemon`."""
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
