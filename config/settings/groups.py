"""Settings that are written together, and the forms that a value may have.

The docstring below each is its documentation, as in `Settings`.
"""

from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

T = TypeVar("T")

Seconds = Annotated[float, Meta(ge=0, extra={"form": "duration"})]
Count = Annotated[int, Meta(ge=1)]
CountOrNone = Annotated[int, Meta(ge=0)]
Rate = Annotated[float, Meta(gt=0)]
Mode = Annotated[int, Meta(ge=0, le=0o777, extra={"form": "mode"})]
Paths = Annotated[tuple[T, ...], Meta(extra={"form": "paths"})]
MapOfLists = Annotated[dict[str, tuple[T, ...]], Meta(extra={"form": "map of lists"})]

MOUNTED_FILES: Final = "/var/run/secrets"
"""Where tokens are mounted into containers, by convention; the same folder as /run/secrets."""

_REQUIREMENT: Final = r"(![^\s=!,()]+|[^\s=!,()]+( ?(==|=|!=) ?[^\s=!,()]*| (in|notin) ?\([^()]*\))?)"
LABEL_SELECTOR: Final = rf"^( *{_REQUIREMENT} *(, *{_REQUIREMENT} *)*)?$"
"""A label selector in kubectl's form. What a label may be, the API server says."""

ESO_LEASE: Final = "external-secrets-controller"
"""What ESO's own election takes: the two exclude each other."""


class Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Settings that are written together: `webhook: {port: 443}`, `SYNCRET_WEBHOOK_PORT`, `webhook.port`.

    A field whose type is a Group is a nested group; its default is an instance of it.
    """


class Egress(Group, frozen=True):
    """Which servers stores and generators may reach; checked on the address that a name resolves to."""

    allow: tuple[str, ...] = ()
    """Exceptions from egress.deny: networks, addresses, hosts (`*.example.com`: all names below it) and the
    groups that egress.deny knows.
    Example: [10.20.0.0/16, vault.example.com]"""
    deny: tuple[str, ...] = ("link-local", "metadata")
    """What stores and generators may not reach; groups are all, link-local, loopback, metadata (servers of
    clouds that are not link-local) and private. Logins with the daemon's own identity are not held to it.
    Example: [link-local, metadata, loopback]"""


class OwnReceiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A server that may have an identity of the daemon itself, and for which stores.

    Example: {url: 'https://vault.example.com:8200', stores: cluster}
    """

    url: str
    """Scheme, host and port, without a path; a `*` stands for one label of the name.
    Example: https://vault.example.com:8200"""
    stores: Literal["all", "cluster"] | None = None
    """Which stores and generators may send it there: cluster-scoped ones alone, or all; absent: cluster, and
    with one author all.
    Example: all"""
    audience: str = ""
    """Audience of the ServiceAccount's token that is issued for this server; empty: the API server's own.
    Example: vault"""
    server_id: str = ""
    """What Vault's login `iam` signs as its receiver; empty: none, and with one author as the store says.
    Example: vault.example.com"""


class OwnIdentityAzure(Group, frozen=True):
    """What the daemon's own identity at Azure may do beside logging in stores."""

    export_namespaces: tuple[str, ...] = ()
    """Namespaces whose resources it may read secrets of for dynamic exports, if they name no credentials:
    all who may write resources there get every secret at Azure that the daemon may read.
    Example: [platform]"""


class OwnIdentity(Group, frozen=True):
    """Where the daemon's own identity may go: its cloud's, its pod's, that of its container."""

    mode: Literal["auto", "strict", "open"] = "auto"
    """Whether the daemon's own identity goes to known receivers only (strict), or also to others, with a log
    entry (open); auto: strict if manifests have several authors."""
    receivers: MapOfLists[str | OwnReceiver] = {}
    """Servers that may have it besides the clouds' own, by provider; an entry may be an object with url,
    stores, audience and serverId.
    Example: {vault: ['https://vault.example.com:8200']}"""
    cluster_only: tuple[str, ...] = ()
    """Providers whose cloud gets it from cluster-scoped stores and generators alone.
    Example: [aws, gcpsm]"""
    azure: OwnIdentityAzure = OwnIdentityAzure()


class LeaderElection(Group, frozen=True):
    """Several replicas in a cluster: one is active, the others are warm and take over."""

    enabled: bool = False
    """Whether a replica acts only while it holds the Lease; necessary if there may be more than one."""
    id: str = ""
    """Name of the Lease; empty: external-secrets-controller, which ESO's own election takes, and for another
    controllerClass syncret-CLASS.
    Example: secrets-of-payments"""
    namespace: str = ""
    """Namespace of the Lease; empty: that of the pod, or of the kubeconfig's context. Example: syncret"""
    lease_duration: Annotated[float, Meta(ge=5, extra={"form": "duration"})] = 10.0
    """How long a replica that does not answer stays the active one. Example: 15s"""
    renew: Annotated[float, Meta(gt=0, extra={"form": "duration"})] = 2.0
    """How often the active replica renews the Lease; at most a quarter of leaseDuration. Example: 2500ms"""


class Process(Group, frozen=True):
    """Which kinds are acted on. Of one that is off nothing is written; in a cluster it is not watched."""

    cluster_store: bool = True
    """ClusterSecretStores; off: they are not checked, and an ExternalSecret whose secretStoreRef is one is
    left alone. With `namespace`, ClusterGenerators are off with them: nothing of the cluster is read."""
    cluster_generator: bool = True
    """ClusterGenerators; off: in a cluster they are not read, so that what refers to one fails."""
    secret_store: bool = True
    """SecretStores; off: they are not checked, but may be used if another daemon reports them as ready."""
    push_secret: bool = True
    """PushSecrets."""
    cluster_external_secret: bool = True
    """ClusterExternalSecrets."""
    cluster_push_secret: bool = True
    """ClusterPushSecrets."""


class Migration(Group, frozen=True):
    """How the daemon takes over from a running External Secrets Operator (ESO)."""

    namespace: str = ""
    """The namespace in which ESO runs, if it is another one: the Lease of its election is looked at there.
    Example: external-secrets"""
    force: bool = False
    """Work although an ESO writes statuses of our objects; its Lease is respected all the same."""


class Webhook(Group, frozen=True):
    """The admission webhook, by which a cluster refuses objects that cannot work, and its certificate."""

    enabled: bool = False
    """In a cluster: serve the webhook, and see to its certificate. `run --only` does one of both alone,
    whatever this says."""
    port: Annotated[int, Meta(ge=0, le=65535)] = 10250
    """The port at which the API server calls it. Example: 9443"""
    healthz_addr: str = ":8081"
    """Address of its own /healthz and /readyz, which fails if the certificate will not be valid in an hour;
    empty: none.
    Example: 0.0.0.0:9081"""
    dns_name: str = ""
    """The name that the API server calls it by, which the certificate has to have; empty: that of the
    Service, NAME.NAMESPACE.svc.
    Example: external-secrets-webhook.external-secrets.svc"""
    cert_dir: str = ""
    """A folder with tls.crt and tls.key that another program maintains, such as cert-manager; empty: they are
    made here, and kept in the Secret.
    Example: /tmp/certs"""
    check_interval: Annotated[float, Meta(ge=1, extra={"form": "duration"})] = 300.0
    """How often the certificate and the webhook configurations are looked at. Example: 1m"""
    lookahead_interval: Seconds = 30 * 86400.0
    """How long before its end a certificate that is made here is renewed, which lasts 90 days; at most 60
    days count.
    Example: 240h"""
    tls_ciphers: tuple[str, ...] = ()
    """Cipher suites for TLS 1.2 by their IANA names; none: the secure ones.
    Example: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]"""
    tls_min_version: Literal["1.2", "1.3"] = "1.2"
    """The oldest version of TLS that is spoken."""
    service: str = "external-secrets-webhook"
    """The Service that leads to it, as NAME or NAMESPACE/NAME; without one, the namespace of the pod.
    Example: external-secrets/external-secrets-webhook"""
    secret: str = "external-secrets-webhook"
    """The Secret with its certificate and authority, as NAME or NAMESPACE/NAME.
    Example: external-secrets/external-secrets-webhook"""


class Operator(Group, frozen=True):
    """What `syncret operator` installs, and how; it has no meaning to the daemon."""

    operand_image: str = ""
    """The image of the daemon that is installed; empty: that of RELATED_IMAGE_EXTERNAL_SECRETS.
    Example: registry.example.com/syncret:1.0"""
    bitwarden_image: str = ""
    """The image of the Bitwarden server; empty: that of RELATED_IMAGE_BITWARDEN_SDK_SERVER.
    Example: registry.example.com/bitwarden-sdk-server:0.5"""
    bitwarden_version: str = ""
    """Its version, for a label; empty: that of BITWARDEN_SDK_SERVER_IMAGE_VERSION. Example: 0.5.2"""
    operator_namespace: str = ""
    """Where the operator itself runs, with the Lease of its replicas; empty: the namespace of the pod.
    Example: external-secrets-operator"""
    resync: Annotated[float, Meta(ge=1, extra={"form": "duration"})] = 600.0
    """How often everything is compared, even without an event of a change. Example: 30m"""
    contested_after: Count = 5
    """Repairs of one object within five minutes, against the same other writer, after which it is left for
    ten minutes. Example: 10"""


_OF_AZURE: Final = (
    *("alertsmanagement", "apimanagement", "app", "appconfiguration", "authorization", "automation"),
    *("batch", "cache", "cdn", "cognitiveservices", "communication", "compute", "containerinstance"),
    *("containerregistry", "containerservice", "dataprotection", "dbformariadb", "dbformysql"),
    *("dbforpostgresql", "devices", "documentdb", "entra", "eventgrid", "eventhub", "insights"),
    *("keyvault", "kubernetesconfiguration", "kusto", "machinelearningservices", "managedidentity"),
    *("monitor", "network", "network.frontdoor", "notificationhubs", "operationalinsights"),
    *("redhatopenshift", "resources", "search", "servicebus", "signalrservice", "sql", "storage"),
    *("subscription", "synapse", "web"),
)
EXPORTING_GROUPS: Final = tuple(f"{name}.azure.com" for name in _OF_AZURE)


class Exports(Group, frozen=True):
    """Dynamic exports: what resources of other operators say in `operatorSpec` is written, by expressions."""

    groups: tuple[str, ...] = EXPORTING_GROUPS
    """In a cluster, the API groups whose resources may have exports; none: exports are off. The daemon needs
    the right to list and watch them. By default those of Azure Service Operator.
    Example: [storage.azure.com, database.aws.crossplane.io]"""
    refresh_interval: Seconds = 3600.0
    """How often the secrets of a resource are read again, as keys rotate without an event; 0: only when the
    resource changes. Example: 15m"""
    evaluation_timeout: Annotated[float, Meta(gt=0, extra={"form": "duration"})] = 2.0
    """Longest elapsed time for the expressions of the resources that are evaluated together; one that takes
    longer alone fails. Example: 10s"""


class MetricsTls(Group, frozen=True):
    """TLS at `listen`, with a certificate from files. They are looked at with each new connection."""

    enabled: bool = False
    """Whether all that is served at `listen` needs TLS, 1.2 at least."""
    cert_dir: str = ""
    """The folder of the certificate and its key, such as a mounted Secret. Example: /etc/tls"""
    cert_name: str = "tls.crt"
    """The file of the certificate, with what signed it. Example: server.pem"""
    key_name: str = "tls.key"
    """The file of its key. Example: server.key"""


class TemplateDelimiters(Group, frozen=True):
    """What begins and ends an action in the templates of ExternalSecrets and PushSecrets.

    Templates of providers and of rewrites keep Go's.
    """

    left: Annotated[str, Meta(min_length=1)] = "{{"
    """What begins an action. Example: '<<'"""
    right: Annotated[str, Meta(min_length=1)] = "}}"
    """What ends an action. Example: '>>'"""

    @property
    def pair(self) -> tuple[str, str]:
        """Both."""
        return self.left, self.right


class Cache(Group, frozen=True):
    """The offline cache of a host: an encrypted file beside the state, with what was delivered and read."""

    key: Annotated[str, Meta(pattern=r"^(credential:[-_A-Za-z0-9]+|file:/.+)?$")] = ""
    """Where its key is: credential:NAME, of systemd and without a dot, or file:/PATH; empty: there is no
    cache.
    Example: credential:cache-key"""
    max_bytes: Annotated[int, Meta(ge=2**20)] = 64 * 2**20
    """Bytes of values that it holds at most; the oldest go first. Example: 16777216"""
    max_entries: Count = 20_000
    """Outputs and answers that it holds at most; the oldest go first. Example: 5000"""
    max_age: Annotated[float, Meta(ge=60, extra={"form": "duration"})] = 30 * 86400.0
    """How long what its store did not confirm is kept. Example: 168h"""
    no_stale_after: Seconds = 0.0
    """How old values may be that their store cannot confirm: then they are withdrawn, and what was delivered
    of them; 0: they stay.
    Example: 24h"""


class BoundFolder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A file or folder of manifests whose author may only define objects of these namespaces and kinds.

    A namespace is a name in which `*` stands for any characters. Without kinds, all namespaced ones
    are meant; otherwise just these, of which some may be cluster-scoped. A Delivery has to be named, too.

    Example: {path: /srv/tenants/a, namespaces: [team-a]}
    """

    path: Annotated[str, Meta(min_length=1)]
    """The file or folder; links lead neither out of it nor into it. Example: /srv/tenants/a"""
    namespaces: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$")], ...], Meta(min_length=1)
    ]
    """Namespaces of its objects; `*` stands for any characters. Example: [team-a, team-a-*]"""
    kinds: tuple[str, ...] = ()
    """Kinds of its objects, cluster-scoped ones and Delivery only if named; none: all others.
    Example: [ExternalSecret, SecretStore]"""
    deliver_to: tuple[Annotated[str, Meta(pattern="^/")], ...] = ()
    """Folders below which its Deliveries may write; none: nowhere. Example: [/srv/team-a]"""
    units: tuple[Annotated[str, Meta(pattern=r"^[-_.:\\@*a-zA-Z0-9]+\.service$")], ...] = ()
    """Units that its Deliveries may check with, reload and watch; they may name nothing else.
    Example: [team-a-app.service]"""
