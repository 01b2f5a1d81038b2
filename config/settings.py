"""The daemon's settings; the docstring below each is its documentation, and ends with an example.

`syncret.config.settings_table` lists them, `syncret.config.settings_layers` reads them.
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
    """Which servers stores and generators may reach; judged on the address that a name leads to."""

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
    """A folder with tls.crt and tls.key that somebody else sees to, such as cert-manager; empty: they are
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


class BoundFolder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A file or folder of manifests whose author may only define objects of these namespaces and kinds.

    A namespace is a name in which `*` stands for any characters. Without kinds, all namespaced ones are
    meant; otherwise just these, of which some may be cluster-scoped.

    Example: {path: /srv/tenants/a, namespaces: [team-a]}
    """

    path: Annotated[str, Meta(min_length=1)]
    """The file or folder; links lead neither out of it nor into it. Example: /srv/tenants/a"""
    namespaces: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$")], ...], Meta(min_length=1)
    ]
    """Namespaces of its objects; `*` stands for any characters. Example: [team-a, team-a-*]"""
    kinds: tuple[str, ...] = ()
    """Kinds of its objects, cluster-scoped ones only if named; none: all namespaced ones.
    Example: [ExternalSecret, SecretStore]"""


class Settings(Group, frozen=True):
    """All settings: defaults < settings file < environment < command line.

    A duration is written as in Go (`1h30m`) or as a number of seconds; a file mode in octal and in quotes,
    such as "0640".
    """

    manifests: Paths[str | BoundFolder] = ()
    """Files and folders that contain the manifests. One that is written as {path, namespaces, kinds} is
    bound: it may only define objects of these namespaces and kinds.
    Example: [/etc/syncret/manifests]"""
    manifest_files: Paths[str] = (MOUNTED_FILES,)
    """Folders below which a manifest may name a file, such as a mounted token.
    Example: [/var/run/secrets, /etc/syncret/tokens]"""
    output_dir: str = "/run/syncret/secrets"
    """Where Secrets are written, as folders of files: <output>/<namespace>/<name>/<key>. `sync` and `plan`
    have no default: without it no file is written. With `kubernetes` there is none either: Secrets are
    written to the API server then, and as files of a sidecar if it is set.
    Example: /run/app-secrets"""
    state_file: str = "/var/lib/syncret/state.db"
    """The state that survives a restart: status, identities, finalizers; never a value. `sync` and `plan`
    have no default: without it each pass is the first.
    Example: /srv/syncret/state.db"""
    kubernetes: bool = False
    """Work in a cluster, as a pod or with a kubeconfig: objects are read from its API server, and Secrets are
    written there, or with `outputDir` as files."""
    kubeconfig: str = ""
    """The kubeconfig of the daemon itself; empty: the pod's own ServiceAccount, outside of a pod what
    KUBECONFIG names, or ~/.kube/config.
    Example: /etc/syncret/kubeconfig"""
    context: str = ""
    """The context of the kubeconfig; empty: its current one. Example: production"""
    namespace: str = ""
    """The only namespace of the cluster to work in; empty: all. Example: payments"""
    selector: Annotated[str, Meta(pattern=LABEL_SELECTOR)] = ""
    """Labels of the ExternalSecrets that a sidecar in a cluster delivers, as kubectl takes them; empty: all
    of the namespace.
    Example: app=shop,tier in (web,worker)"""
    report_status: bool = False
    """Whether a sidecar in a cluster writes the status of ExternalSecrets and SecretStores to the API server;
    a controller may write it, too."""
    leader_election: LeaderElection = LeaderElection()
    observe: bool = False
    """In a cluster: read everything, write nothing, and say what would be written. Beside a running ESO it
    shows what a takeover would change."""
    migration: Migration = Migration()
    webhook: Webhook = Webhook()
    socket: str = "/run/syncret/control.sock"
    """The Unix socket (mode 0600) for status, explain and refresh; empty: none.
    Example: /run/app/syncret.sock"""
    listen: str = "127.0.0.1:9847"
    """Address of /metrics, /healthz and /readyz; empty: none. Example: 0.0.0.0:9847"""
    status_on_listen: bool = False
    """Serve /status at `listen`, too, to everyone who can connect there; otherwise it is served on the socket
    alone."""
    health_listen: str = ""
    """A second address for /healthz and /readyz alone, which probes reach where metrics are not to be
    reached; empty: none.
    Example: 0.0.0.0:8082"""
    extended_metric_labels: bool = False
    """Add the six `app.kubernetes.io` labels of each object to its ESO metrics, as
    app_kubernetes_io_name and so on."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe messages that are logged."""
    log_format: Literal["auto", "console", "json"] = "auto"
    """console for people, json for machines; auto: console on a terminal. Example: json"""
    log_time: Literal["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"] = "rfc3339nano"
    """How log lines write the time: seconds, milliseconds or nanoseconds since 1970, or a date."""

    file_mode: Mode = 0o600
    """Mode of each written file. Example: '0640'"""
    folder_mode: Mode = 0o700
    """Mode of each written folder. Example: '0750'"""
    owner: str = ""
    """Owner of what is written, by name or number; empty: the daemon's own. Example: app"""
    group: str = ""
    """Group of what is written, by name or number; empty: the daemon's own. Example: app"""
    fsync: bool = True
    """Wait until files are on the disk before they count as written."""
    rescan_interval: Seconds = 45.0
    """How often folders are scanned even if no change was reported. Example: 5m"""
    deletion_grace: Seconds = 60.0
    """How long all objects of a file, or most of all objects, must be missing from the manifests until they
    are deleted; 0: none waits.
    Example: 10m"""

    workers: Count = 512
    """How many objects are reconciled at the same time; one that waits for a store does not count.
    Example: 64"""
    api_writes: CountOrNone = 0
    """How many writes to the home may be under way at once; 0: as many as serve it best. Example: 32"""
    store_workers: Count = 128
    """How many objects of one store may be in progress, waiting ones included. Example: 16"""
    store_waits: Count = 4096
    """How many objects of all stores may be in progress, waiting ones included; stores that do not answer
    share an eighth of it.
    Example: 1024"""
    store_interval: Seconds = 300.0
    """How often a store without an interval of its own is checked. Example: 1m"""
    retry_min: Seconds = 1.0
    """Delay before the first retry of an object; it doubles from there. Example: 5s"""
    retry_max: Seconds = 300.0
    """Longest delay between retries of an object. Example: 1h"""
    spread: bool = True
    """Move periodic refreshes to stable slots, so that thousands are not due at once."""
    drain_timeout: Seconds = 20.0
    """How long a stop waits for work in progress. Example: 60s"""

    requests_per_second: Rate = 50.0
    """Calls per second to one store; `syncret.dev/requests-per-second` overrides it. Example: 10"""
    burst: Count = 100
    """Calls at once to one store; `syncret.dev/burst` overrides it. Example: 20"""
    call_timeout: Seconds = 30.0
    """Longest time that one provider call may take. Example: 10s"""
    call_attempts: Count = 3
    """How often a provider call without an answer is tried. Example: 5"""
    batch_window: Seconds = 0.002
    """How long a read waits for others to share its call. Example: 10ms"""
    answer_memory: Annotated[int, Meta(ge=48 * 2**20)] = 64 * 2**20
    """Bytes that the answers of all stores may take in memory; readers wait for room. Example: 134217728"""
    idle_close: Seconds = 900.0
    """When an unused client is closed. Example: 5m"""
    trusted_ca_file: str = ""
    """Authorities in PEM that are trusted beside the system's, where a store names none. The file may be
    absent and is read again when it changes; what was trusted once is until the end.
    Example: /etc/syncret/trusted-ca/ca-bundle.crt"""
    egress: Egress = Egress()

    template_time: Seconds = 0.1
    """Work that the templates of one object may do; counted in steps, not by the clock. Example: 1s"""
    template_memory: Count = 10_000_000
    """Bytes that the templates of one object may produce. Example: 1000000"""
    template_keys: CountOrNone = 10
    """Keys and certificates that the templates of one object may create. Example: 2"""
    template_timeout: Seconds = 10.0
    """Longest elapsed time for the templates of one object; 0: no limit. Example: 30s"""

    template_delimiters: TemplateDelimiters = TemplateDelimiters()

    work_time: Seconds = 1.0
    """Work that one sync of one object may take: paths into values, rewrites, conversions, templates, what
    its calls to stores compute and local generators together; counted in steps, not by the clock.
    Example: 5s"""
    work_memory: Count = 64_000_000
    """Bytes that one sync of one object may make, intermediate results included. Example: 256000000"""

    own_identity: OwnIdentity = OwnIdentity()

    generator_gc_grace_period: Seconds = 120.0
    """How long credentials that a generator created are kept after they were replaced. Example: 10m"""

    controller_class: str = "default"
    """Stores and generators with another class in spec.controller are ignored. Example: edge"""
    process: Process = Process()
    require_ready_stores: bool = True
    """Whether an ExternalSecret waits until its store was checked; otherwise the store is used as it is."""
    generator_state: bool = True
    """Whether credentials that a generator creates are recorded as GeneratorStates, so that they are
    cleaned up; otherwise they are left to expire."""
    external_secret_finalizer: Literal["needed", "always"] = "needed"
    """In a cluster, which ExternalSecrets get ESO's finalizer: those whose target is deleted with them
    (deletionPolicy Delete), or always, as ESO does. On a host, all. Example: always"""
    allow_generic_targets: bool = False
    """Let ExternalSecrets write kinds other than Secret (target.manifest)."""

    @property
    def lease_name(self) -> str:
        """The Lease of all replicas that act on objects of one class."""
        theirs = ESO_LEASE if self.is_default_class else f"syncret-{self.controller_class}"
        return self.leader_election.id or theirs

    @property
    def is_sidecar(self) -> bool:
        """Whether objects come from an API server, and Secrets are files."""
        return self.kubernetes and bool(self.output_dir)

    @property
    def is_default_class(self) -> bool:
        """Whether it acts on what an ESO without a class of its own would act on, too."""
        return self.controller_class == "default"

    @property
    def manifest_paths(self) -> tuple[str, ...]:
        """The files and folders that contain the manifests, bound or not."""
        return tuple(each if isinstance(each, str) else each.path for each in self.manifests)

    @property
    def bound_folders(self) -> tuple[BoundFolder, ...]:
        """Those of them that are bound."""
        return tuple(each for each in self.manifests if isinstance(each, BoundFolder))


IN_CLUSTER: Final = Settings(output_dir="", state_file="")
"""The defaults in a cluster, which keeps what the daemon has to know."""


def several_authors(settings: Settings) -> bool:
    """Whether people write manifests who must not have what is others': in a cluster, in bound folders."""
    return settings.kubernetes or bool(settings.bound_folders)
