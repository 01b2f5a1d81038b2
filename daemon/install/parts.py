"""The parts of an Installation: accounts, roles, Pods, Services and what else can be chosen about each."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

from syncret.config.meta import Document

UID: Final = 65532
"""The user of the image."""

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
NO_FLAGS: Final[Mapping[str, Any]] = MappingProxyType({})


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
    automount: bool = True
    """Whether its token is mounted into the Pods; without, another volume has to bring it."""


class Rbac(Struct, frozen=True, kw_only=True):
    """Which roles are made."""

    create: bool = True
    """Whether there are roles for the daemon."""
    tokens: bool = True
    """Whether it may issue tokens of ServiceAccounts, with which stores log in (`serviceAccountRef`)."""
    finalizers: bool = True
    """Whether it may own what it creates where the API server checks that (OpenShift does)."""
    reviews: bool = False
    """Whether it may have others' tokens checked (`system:auth-delegator`)."""
    view: bool = True
    """Whether Kubernetes' own role view extends to our kinds; not in one namespace alone."""
    edit: bool = True
    admin: bool = True
    service_bindings: bool = True
    """Whether controllers of service bindings may read ExternalSecrets and PushSecrets."""


class TargetResource(Struct, frozen=True, kw_only=True):
    """Resources besides Secrets that ExternalSecrets may write (`target.manifest`)."""

    group: str = ""
    resources: Sequence[str]
    """As in a role: in lower case, in the plural."""


def _resources() -> Document:
    return {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "256Mi"}}


def _non_root() -> Document:
    ids = {"runAsUser": UID, "runAsGroup": UID, "fsGroup": UID}
    return {"runAsNonRoot": True, **ids, "seccompProfile": {"type": "RuntimeDefault"}}


def _confined() -> Document:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def _live() -> Document:
    return _probe("/healthz")


def _ready() -> Document:
    return _probe("/readyz")


def _probe(path: str) -> Document:
    return {"httpGet": {"path": path, "port": "metrics"}, "periodSeconds": 10, "timeoutSeconds": 5}


class Pod(Struct, frozen=True, kw_only=True):
    """How the daemon's Pods are made; documents are those of Kubernetes' PodSpec."""

    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    pull_policy: str = "IfNotPresent"
    pull_secrets: Sequence[str] = ()
    resources: Document = field(default_factory=_resources)
    security_context: Document = field(default_factory=_non_root)
    container_security_context: Document = field(default_factory=_confined)
    liveness: Document | None = field(default_factory=_live)
    readiness: Document | None = field(default_factory=_ready)
    """The readiness probe, at the port `metrics`, or at `live` with a health_port. None: no probe."""
    env: Sequence[Document] = ()
    volumes: Sequence[Document] = ()
    volume_mounts: Sequence[Document] = ()
    init_containers: Sequence[Document] = ()
    containers: Sequence[Document] = ()
    """More containers beside the daemon's."""
    spread: Sequence[Document] = ()
    """topologySpreadConstraints; one without a labelSelector is about these Pods."""
    spec: Document = field(default_factory=_empty)
    """Other members of the PodSpec, such as nodeSelector, tolerations, affinity, priorityClassName."""


class Deployment(Struct, frozen=True, kw_only=True):
    """How the Deployment replaces Pods."""

    create: bool = True
    name: str = ""
    """Empty: that of the installation. The selector of a Deployment cannot change, so one that another
    program made cannot become ours."""
    container: str = "syncret"
    """The name of the container."""
    annotations: Mapping[str, str] = NOTHING
    revision_history_limit: int = 10
    strategy: Document = field(default_factory=_empty)
    """Empty: a replica without an election ends before the next begins, others are replaced one by one."""


class DisruptionBudget(Struct, frozen=True, kw_only=True):
    """How many Pods, or which share (`50%`), an eviction has to leave, or may take."""

    name: str = ""
    """Empty: that of the installation."""
    min_available: int | str | None = 1
    max_unavailable: int | str | None = None
    """If it is there, min_available does not count."""


class MetricsService(Struct, frozen=True, kw_only=True):
    """The Service through which metrics are scraped."""

    port: int | None = None
    """None: that of the Pods."""
    annotations: Mapping[str, str] = NOTHING


class NetworkPolicy(Struct, frozen=True, kw_only=True):
    """Who may connect to the daemon's ports, and where the daemon may connect to."""

    clients: Sequence[Document] = ()
    """Peers that may connect; none: all peers may."""
    ingress: Sequence[Document] = ()
    """Rules of who may connect; none: the clients, to each port of the Pods."""
    egress: Sequence[Document] = ()
    """Rules of where it may connect to; none named: anywhere, as secret managers are anywhere."""


class ServiceMonitor(Struct, frozen=True, kw_only=True):
    """The ServiceMonitor from which the Prometheus operator learns of the metrics; its CRD must be there."""

    labels: Mapping[str, str] = NOTHING
    namespace: str = ""
    """Empty: that of the installation."""
    interval: str = "30s"
    scrape_timeout: str = "25s"
    endpoint: Document = field(default_factory=_empty)
    """Other members of the endpoint, such as honorLabels, relabelings, metricRelabelings."""


class Dashboard(Struct, frozen=True, kw_only=True):
    """A ConfigMap with a dashboard, which Grafana's sidecar finds by a label."""

    labels: Mapping[str, str] = field(default_factory=lambda: {"grafana_dashboard": "1"})
    annotations: Mapping[str, str] = NOTHING


class CertManager(Struct, frozen=True, kw_only=True):
    """cert-manager makes the certificate of the webhook, instead of the daemon."""

    inject: bool = True
    """Whether it puts its authority into the configurations of the webhook, too."""
    create: bool = True
    """Whether a Certificate is made; else one with the Secret `NAME-webhook` is expected."""
    issuer: Document = field(default_factory=_empty)
    """The issuerRef."""
    annotations: Mapping[str, str] = NOTHING
    spec: Document = field(default_factory=_empty)
    """Other members of the Certificate's spec, such as duration, renewBefore, privateKey."""


class WebhookService(Struct, frozen=True, kw_only=True):
    """The Service through which the API server reaches the webhook."""

    type: str = "ClusterIP"
    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    load_balancer_ip: str = ""


class Webhook(Struct, frozen=True, kw_only=True):
    """Validation on admission, by the daemon itself."""

    failure_policy: str = "Ignore"
    """What the API server does if no replica answers. Ignore: the CRDs and each sync refuse the same."""
    port: int = 10250
    annotations: Mapping[str, str] = NOTHING
    """Of the configurations."""
    secret_annotations: Mapping[str, str] = NOTHING
    """Of the Secret with the certificate."""
    secret: str = ""
    """The Secret with the certificate; empty: `NAME-webhook`."""
    check_interval: str = ""
    """How often the certificate is looked at; empty: as the daemon's default."""
    lookahead_interval: str = ""
    """How long before its end it is renewed; empty: as the daemon's default."""
    service: WebhookService | None = WebhookService()
    """None: it is expected to exist."""
    cert_manager: CertManager | None = None
    cert_dir: str = "/tmp/certs"  # noqa: S108  # where a Secret is mounted, read-only
    """Where files of the certificate are mounted: with cert-manager, or if the webhook is separate."""
    separate: bool = False
    """Whether webhook and certificates are Deployments of their own, as ESO's are."""
    replicas: int = 1
    """Of the webhook, if it is separate."""
    pod: Pod = Pod()
    """Of what is separate."""


class Crds(Struct, frozen=True, kw_only=True):
    """The CustomResourceDefinitions, if they are installed together with the daemon."""

    annotations: Mapping[str, str] = NOTHING
    serve_v1beta1: bool = False
    """Whether external-secrets.io/v1beta1 is served, too."""
    left_out: Sequence[str] = ()
    """Kinds without one."""
