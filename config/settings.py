"""The daemon's settings, each with its documentation.

`syncret.config.settings_table` lists them, `syncret.config.settings_layers` reads them.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

Seconds = Annotated[float, Meta(ge=0, extra={"form": "duration"})]
Count = Annotated[int, Meta(ge=1)]
Mode = Annotated[int, Meta(ge=0, le=0o777, extra={"form": "mode"})]

MOUNTED_FILES: Final = "/var/run/secrets"
"""Where tokens are mounted into containers, by convention; the same folder as /run/secrets."""


class Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Settings that are written together: `webhook: {port: 443}`, `SYNCRET_WEBHOOK_PORT`, `webhook.port`.

    A field whose type is a Group is a nested group; its default is an instance of it.
    """


class Egress(Group, frozen=True):
    """Which servers stores and generators may reach; judged on the address that a name leads to."""

    allow: Annotated[
        tuple[str, ...],
        Meta(
            description="Exceptions from egress.deny: networks, addresses, hosts (`*.example.com`: all names "
            "below it) and the groups that egress.deny knows."
        ),
    ] = ()
    deny: Annotated[
        tuple[str, ...],
        Meta(
            description="What stores and generators may not reach; groups are all, link-local, loopback, "
            "metadata (servers of clouds that are not link-local) and private. Logins with the daemon's own "
            "identity are not held to it."
        ),
    ] = ("link-local", "metadata")


class OwnReceiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A server that may have an identity of the daemon itself; `stores` says for which stores."""

    url: str
    stores: Literal["all", "cluster"] | None = None
    audience: str = ""
    """Of the token that is issued for it; empty: the API server's own."""
    server_id: str = ""
    """What Vault's login `iam` signs as the server that it is for."""


class OwnIdentity(Group, frozen=True):
    """Where the daemon's own identity may go: its cloud's, its pod's, that of its container."""

    mode: Annotated[
        Literal["auto", "strict", "open"],
        Meta(
            description="Whether the daemon's own identity goes to known receivers only (strict), or also to "
            "others, with a log entry (open); auto: strict if manifests have several authors."
        ),
    ] = "auto"
    receivers: Annotated[
        dict[str, tuple[str | OwnReceiver, ...]],
        Meta(
            description="Servers that may have it besides the clouds' own, by provider: "
            "`{vault: [https://vault.example.com:8200]}`; an entry may be an object with url, stores, "
            "audience and serverId.",
            extra={"form": "map of lists"},
        ),
    ] = {}
    cluster_only: Annotated[
        tuple[str, ...],
        Meta(
            description="Providers whose cloud gets it from cluster-scoped stores and generators alone.",
        ),
    ] = ()


class BoundFolder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A file or folder of manifests whose author may only define objects of these namespaces and kinds.

    A namespace is a name in which `*` stands for any characters. Without kinds, all namespaced ones are
    meant; otherwise just these, of which some may be cluster-scoped.
    """

    path: Annotated[str, Meta(min_length=1)]
    namespaces: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$")], ...], Meta(min_length=1)
    ]
    kinds: tuple[str, ...] = ()


class Settings(Group, frozen=True):
    """All settings: defaults < settings file < environment < command line.

    A duration is written as in Go (`1h30m`) or as a number of seconds; a file mode in octal and in quotes,
    such as "0640".
    """

    manifests: Annotated[
        tuple[str | BoundFolder, ...],
        Meta(
            description="Files and folders that contain the manifests. One that is written as {path, "
            "namespaces, kinds} is bound: it may only define objects of these namespaces and kinds.",
            extra={"form": "paths"},
        ),
    ] = ()
    manifest_files: Annotated[
        tuple[str, ...],
        Meta(
            description="Folders below which a manifest may name a file, such as a mounted token.",
            extra={"form": "paths"},
        ),
    ] = (MOUNTED_FILES,)
    output_dir: Annotated[
        str,
        Meta(
            description="Where Secrets are written, as folders of files: <output>/<namespace>/<name>/<key>."
        ),
    ] = "/run/syncret/secrets"
    state_file: Annotated[
        str,
        Meta(description="The state that survives a restart: status, identities, finalizers; never a value."),
    ] = "/var/lib/syncret/state.db"
    socket: Annotated[
        str,
        Meta(description="The Unix socket (mode 0600) for status, explain and refresh; empty: none."),
    ] = "/run/syncret/control.sock"
    listen: Annotated[str, Meta(description="Address of /metrics, /healthz and /readyz; empty: none.")] = (
        "127.0.0.1:9847"
    )
    status_on_listen: Annotated[
        bool,
        Meta(
            description="Serve /status at `listen`, too, to everyone who can connect there; otherwise it is "
            "served on the socket alone."
        ),
    ] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="The least severe messages that are logged."),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "console", "json"],
        Meta(description="console for people, json for machines; auto: console on a terminal."),
    ] = "auto"

    file_mode: Annotated[Mode, Meta(description="Mode of each written file.")] = 0o600
    folder_mode: Annotated[Mode, Meta(description="Mode of each written folder.")] = 0o700
    owner: Annotated[
        str, Meta(description="Owner of what is written, by name or number; empty: the daemon's own.")
    ] = ""
    group: Annotated[
        str, Meta(description="Group of what is written, by name or number; empty: the daemon's own.")
    ] = ""
    fsync: Annotated[
        bool, Meta(description="Wait until files are on the disk before they count as written.")
    ] = True
    rescan_interval: Annotated[
        Seconds, Meta(description="How often folders are scanned even if no change was reported.")
    ] = 45.0
    deletion_grace: Annotated[
        Seconds,
        Meta(
            description="How long all objects of a file, or most of all objects, must be missing from the "
            "manifests until they are deleted; 0: none waits."
        ),
    ] = 60.0

    workers: Annotated[
        Count,
        Meta(
            description="How many objects are reconciled at the same time; one that waits for a store does "
            "not count."
        ),
    ] = 512
    api_writes: Annotated[
        int,
        Meta(
            ge=0,
            description="How many writes to the home may be under way at once; 0: as many as serve it best.",
        ),
    ] = 0
    store_workers: Annotated[
        Count, Meta(description="How many objects of one store may be in progress, waiting ones included.")
    ] = 128
    store_waits: Annotated[
        Count,
        Meta(
            description="How many objects of all stores may be in progress, waiting ones included; "
            "stores that do not answer share an eighth of it."
        ),
    ] = 4096
    store_interval: Annotated[
        Seconds, Meta(description="How often a store without an interval of its own is checked.")
    ] = 300.0
    retry_min: Annotated[
        Seconds, Meta(description="Delay before the first retry of an object; it doubles from there.")
    ] = 1.0
    retry_max: Annotated[Seconds, Meta(description="Longest delay between retries of an object.")] = 300.0
    spread: Annotated[
        bool,
        Meta(description="Move periodic refreshes to stable slots, so that thousands are not due at once."),
    ] = True
    drain_timeout: Annotated[Seconds, Meta(description="How long a stop waits for work in progress.")] = 20.0

    requests_per_second: Annotated[
        float,
        Meta(
            gt=0,
            description="Calls per second to one store; `syncret.dev/requests-per-second` overrides it.",
        ),
    ] = 50.0
    burst: Annotated[
        Count, Meta(description="Calls at once to one store; `syncret.dev/burst` overrides it.")
    ] = 100
    call_timeout: Annotated[Seconds, Meta(description="Longest time that one provider call may take.")] = 30.0
    call_attempts: Annotated[
        Count, Meta(description="How often a provider call without an answer is tried.")
    ] = 3
    batch_window: Annotated[
        Seconds, Meta(description="How long a read waits for others to share its call.")
    ] = 0.002
    idle_close: Annotated[Seconds, Meta(description="When an unused client is closed.")] = 900.0
    egress: Egress = Egress()

    work_time: Annotated[
        Seconds,
        Meta(
            description="Work that one sync of one object may take: paths into values, rewrites, conversions,"
            " templates and local generators together; counted in steps, not by the clock."
        ),
    ] = 1.0
    work_memory: Annotated[
        Count,
        Meta(description="Bytes that one sync of one object may make, intermediate results included."),
    ] = 64_000_000

    template_time: Annotated[
        Seconds,
        Meta(description="Work that the templates of one object may do; counted in steps, not by the clock."),
    ] = 0.1
    template_memory: Annotated[
        Count, Meta(description="Bytes that the templates of one object may produce.")
    ] = 10_000_000
    template_keys: Annotated[
        int, Meta(ge=0, description="Keys and certificates that the templates of one object may create.")
    ] = 10
    template_timeout: Annotated[
        Seconds, Meta(description="Longest elapsed time for the templates of one object; 0: no limit.")
    ] = 10.0

    own_identity: OwnIdentity = OwnIdentity()

    generator_gc_grace_period: Annotated[
        Seconds,
        Meta(description="How long credentials that a generator created are kept after they were replaced."),
    ] = 120.0

    controller_class: Annotated[
        str,
        Meta(description="Stores and generators with another class in spec.controller are ignored."),
    ] = "default"
    allow_generic_targets: Annotated[
        bool, Meta(description="Let ExternalSecrets write kinds other than Secret (target.manifest).")
    ] = False

    @property
    def manifest_paths(self) -> tuple[str, ...]:
        """The files and folders that contain the manifests, bound or not."""
        return tuple(each if isinstance(each, str) else each.path for each in self.manifests)

    @property
    def bound_folders(self) -> tuple[BoundFolder, ...]:
        """Those of them that are bound."""
        return tuple(each for each in self.manifests if isinstance(each, BoundFolder))


def several_authors(settings: Settings) -> bool:
    """Whether people write manifests who must not have what is others': then folders are bound to tenants."""
    return bool(settings.bound_folders)
