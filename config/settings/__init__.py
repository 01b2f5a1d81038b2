"""The daemon's settings; the docstring below each is its documentation, and ends with an example.

`syncret.config.settings_table` lists them, `syncret.config.settings_layers` reads them.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta

from syncret.config.settings.groups import (
    ESO_LEASE,
    LABEL_SELECTOR,
    MOUNTED_FILES,
    BoundFolder,
    Cache,
    Count,
    CountOrNone,
    Egress,
    Exports,
    Group,
    LeaderElection,
    MetricsTls,
    Migration,
    Mode,
    Operator,
    OwnIdentity,
    OwnReceiver,
    Paths,
    Process,
    Rate,
    Seconds,
    TemplateDelimiters,
    Webhook,
)

__all__ = [
    "ESO_LEASE",
    "IN_CLUSTER",
    "MOUNTED_FILES",
    "BoundFolder",
    "Cache",
    "Egress",
    "Exports",
    "Group",
    "LeaderElection",
    "MetricsTls",
    "Migration",
    "Operator",
    "OwnIdentity",
    "OwnReceiver",
    "Process",
    "Settings",
    "TemplateDelimiters",
    "Webhook",
    "several_authors",
]


class Settings(Group, frozen=True):
    """All settings: defaults < settings file < environment < command line.

    A duration is written as in Go (`1h30m`) or as a number of seconds; a file mode in octal and in quotes,
    such as "0640".
    """

    manifests: Paths[str | BoundFolder] = ()
    """Files and folders that contain the manifests. One that is written as {path, namespaces, kinds} is
    bound: it may only define objects of these namespaces and kinds, and Deliveries only as `deliverTo` and
    `units` beside them say.
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
    deliveries_from_api: bool = False
    """Whether a sidecar in a cluster carries out the Deliveries of its namespace, too; it needs the right to
    watch them."""
    commands_from_api: bool = False
    """Whether Deliveries of the API server may run programs and signal processes, with `deliveriesFromApi`:
    each user who can write one can then run any program in the sidecar."""
    leader_election: LeaderElection = LeaderElection()
    observe: bool = False
    """In a cluster: read everything, write nothing, and say what would be written. Beside a running ESO it
    shows what a takeover would change."""
    migration: Migration = Migration()
    webhook: Webhook = Webhook()
    operator: Operator = Operator()
    socket: str = "/run/syncret/control.sock"
    """The Unix socket (mode 0600) for status, explain and refresh; empty: none.
    Example: /run/app/syncret.sock"""
    credential_socket: str = ""
    """The Unix socket (mode 0600) on which systemd asks for the credentials that Deliveries offer; empty: the
    one that syncret-credentials.socket passes, if it does.
    Example: /run/app/credentials.sock"""
    credential_wait: Annotated[float, Meta(ge=1, le=60, extra={"form": "duration"})] = 20.0
    """How long a unit that starts waits for a credential of which nothing is live yet, 1s to 1m; then its
    start fails. Example: 5s"""
    listen: str = "127.0.0.1:9847"
    """Address of /metrics, /healthz and /readyz; empty: none. Example: 0.0.0.0:9847"""
    metrics_tls: MetricsTls = MetricsTls()
    metrics_auth: bool = False
    """Whether /metrics (and /status) at `listen` are for owners of tokens alone to whom the cluster's RBAC
    gives `get` on that path (nonResourceURLs); needs metricsTls and a cluster."""
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
    cache: Cache = Cache()
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
    """Calls per second to one store; fewer, if its vendor publishes a lower limit.
    `syncret.dev/requests-per-second` overrides both. Example: 10"""
    burst: Count = 100
    """Calls at once to one store, 1000 in a command that reads once, such as `sync`; `syncret.dev/burst`
    overrides it.
    Example: 20"""
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
    exports: Exports = Exports()

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
