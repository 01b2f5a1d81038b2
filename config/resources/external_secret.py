"""ExternalSecret: which values are read, from which stores, and the target that is written from them."""

from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from syncret.config.fields import Defaulted, Duration, Model, Name, Nullable, SecretKey, Timestamp
from syncret.config.resources.base import GENERATORS_API, ConversionStrategy, DecodingStrategy, Resource
from syncret.config.resources.kinds import GeneratorKind, StoreKind
from syncret.config.resources.templates import Template

SCHEDULE: Final = (
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|@every [^\s]+.*|[^\s]+( [^\s]+){4})$"
)


class StoreRef(Model):
    """The store to read from. Without a kind it is a SecretStore in the same namespace.

    Example: {name: vault}
    """

    name: Name = ""
    """Name of the store; until it exists and is ready, nothing is fetched. Example: vault"""
    kind: StoreKind | None = None
    """SecretStore (of the same namespace) or ClusterSecretStore; absent: SecretStore.
    Example: ClusterSecretStore"""


class GeneratorRef(Model):
    """The generator that makes the values.

    Example: {apiVersion: generators.external-secrets.io/v1alpha1, kind: Password, name: strong}
    """

    kind: GeneratorKind
    """Kind of the generator; ClusterGenerator serves every namespace. Example: Password"""
    name: Name
    """Name of the generator, in the same namespace unless it is a ClusterGenerator. Example: strong"""
    api_version: str = GENERATORS_API
    """Group and version of the generator. Example: generators.external-secrets.io/v1alpha1"""


class DataSource(Model):
    """Another store for one entry of `data`. A generator is accepted, and then no store is read."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    store_ref: StoreRef | None = None
    """The store of this entry, instead of `secretStoreRef`."""
    generator_ref: GeneratorRef | None = None
    """Accepted by the schema and of no use: a generator gives no single keys, so the entry fails."""


class RemoteReference(Model):
    """The place of a value in the store, and how it is read.

    Example: {key: database/prod, property: password}
    """

    key: str
    """Name or path of the entry, as the secret manager spells it; what absence means is up to
    `target.deletionPolicy`.
    Example: database/prod"""
    metadata_policy: Literal["None", "Fetch"] | None = None
    """Fetch reads the tags or labels of the entry instead of its value; by default its value.
    Example: Fetch"""
    property: str = ""
    """Part of a structured value, as a GJSON path; empty: the whole value. Example: credentials.password"""
    version: str = ""
    """Version of the entry, as the secret manager counts it; empty: the newest, so that a rotation arrives.
    Example: '3'"""
    conversion_strategy: ConversionStrategy | None = None
    """What becomes of characters that a key of a Secret cannot have: `_` (Default), or `_U<hex>_` (Unicode).
    Example: Unicode"""
    decoding_strategy: DecodingStrategy | None = None
    """How the value is decoded; Auto decodes what looks like base64, even a password that merely does.
    Example: Base64"""
    null_byte_policy: Literal["Ignore", "Fail"] | None = None
    """Fail refuses a value with a null byte, which many programs cut off; by default it is passed on.
    Example: Fail"""


class Data(Model):
    """One key of the target, and the value that it gets.

    Example: {secretKey: password, remoteRef: {key: database/prod, property: password}}
    """

    secret_key: SecretKey
    """Key of the target, and the name of the value in templates. Example: password"""
    remote_ref: RemoteReference
    """Where the value is, and how it is read."""
    source_ref: DataSource | None = None
    """Where this entry reads from, if not from `secretStoreRef`. Example: {storeRef: {name: vault-eu}}"""


class FindName(Model):
    """Names that a regular expression matches."""

    regexp: str = ""
    """Regular expression (RE2) that the name must match somewhere; anchor it with `^` and `$`.
    Example: ^database/"""


class Find(Model):
    """Every entry whose name or tags match; each becomes a key.

    Example: {name: {regexp: ^database/}}
    """

    path: str | None = None
    """Path below which entries are looked for; not every secret manager has paths. Example: apps/shop"""
    name: FindName | None = None
    """Which names match."""
    tags: dict[str, str] = {}
    """Tags that an entry must have, all of them; not every secret manager has tags.
    Example: {team: payments}"""
    conversion_strategy: ConversionStrategy | None = None
    """What becomes of characters that a key of a Secret cannot have: `_` (Default), or `_U<hex>_` (Unicode).
    Example: Unicode"""
    decoding_strategy: DecodingStrategy | None = None
    """How each value is decoded; Auto decodes what looks like base64, even a password that merely does.
    Example: Base64"""
    null_byte_policy: Literal["Ignore", "Fail"] | None = None
    """Fail refuses values with a null byte, which many programs cut off; by default they are passed on.
    Example: Fail"""


class RewriteRegexp(Model):
    """Replaces what matches in every key, by Go's rules of expansion.

    Example: {source: ^database/(.*)$, target: db_$1}
    """

    source: str
    """Regular expression (RE2) for the part of a key to replace; a key that does not match stays as it is.
    Example: ^database/(.*)$"""
    target: str
    """What to put there; `$1` is the first group, and `${1}x` keeps letters that follow apart.
    Example: db_$1"""


class RewriteTransform(Model):
    """A template that renders each new key from the old one, which is `.value`.

    Example: {template: '{{ .value | upper }}'}
    """

    template: str
    """The template; if two keys become equal, one value is lost. Example: '{{ .value | upper }}'"""


class RewriteMerge(Model):
    """Merges values that are JSON objects into one set of keys, or into one key."""

    into: Defaulted[str] = ""
    """Key for the merged object, with strategy JSON; without it that strategy fails. Example: config.json"""
    priority: tuple[str, ...] = ()
    """Keys whose members win over those of others, the last one most. Example: [defaults, overrides]"""
    priority_policy: Literal["IgnoreNotFound", "Strict"] = "Strict"
    """Whether a key in `priority` that was not fetched is an error (Strict), or passed over.
    Example: IgnoreNotFound"""
    conflict_policy: Literal["Ignore", "Error"] = "Error"
    """Whether a member that two values have is an error (Error), or the later one wins. Example: Ignore"""
    strategy: Literal["Extract", "JSON"] = "Extract"
    """Extract: each member becomes a key. JSON: all become one object, in the key `into`. Example: JSON"""


class Rewrite(Model):
    """One rewrite of keys, applied to the result of the one before."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    merge: RewriteMerge | None = None
    """Merges values that are JSON objects. Example: {strategy: JSON, into: config.json}"""
    regexp: RewriteRegexp | None = None
    """Renames keys by a regular expression."""
    transform: RewriteTransform | None = None
    """Renames keys by a template."""


class DataFromSource(Model):
    """Another store for one entry of `dataFrom`, or the generator that makes its values."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    store_ref: StoreRef | None = None
    """The store of this entry, instead of `secretStoreRef`."""
    generator_ref: GeneratorRef | None = None
    """The generator that makes the values; it needs no store, and makes new ones at each refresh."""


class DataFrom(Model):
    """Many keys at once: the members of one value, all entries that match, or what a generator makes.

    Example: {extract: {key: database/prod}}
    """

    extract: RemoteReference | None = None
    """The entry whose members become keys; one that is not a JSON object is an error.
    Example: {key: database/prod}"""
    find: Find | None = None
    """Which entries become keys."""
    rewrite: tuple[Rewrite, ...] = ()
    """Changes of the keys, one applied to the result of the one before; they replace key conversion."""
    source_ref: DataFromSource | None = None
    """Where this entry reads from, if not from `secretStoreRef`."""


class ManifestRef(Model):
    """The kind of object that is written instead of a Secret; the setting `allowGenericTargets` permits it.

    Example: {apiVersion: v1, kind: ConfigMap}
    """

    api_version: Annotated[str, Meta(min_length=1)]
    """Group and version of that kind. Example: v1"""
    kind: Annotated[str, Meta(min_length=1)]
    """That kind. Its objects are no Secrets: all who may read them see the values. Example: ConfigMap"""


class Target(Model):
    """The object that is written, who owns it, and what happens to it when the values are gone."""

    name: Name = ""
    """Name of the target; empty: that of the ExternalSecret. If it changes, an owned Secret of the old name
    is deleted.
    Example: database"""
    creation_policy: Literal["Owner", "Orphan", "Merge", "None", "CreateOrMerge"] = "Owner"
    """Owner makes the target and deletes it with the ExternalSecret; Orphan leaves it behind; Merge adds keys
    to one that exists; CreateOrMerge makes it if it is missing; None writes nothing.
    Example: Merge"""
    deletion_policy: Literal["Delete", "Merge", "Retain"] = "Retain"
    """What happens when entries are gone from the store. Retain fails and keeps the target; Delete and Merge
    drop their keys, and Delete the target with the last of them.
    Example: Merge"""
    template: Template | None = None
    """How the target is rendered; absent: each value becomes a key."""
    manifest: ManifestRef | None = None
    """Writes an object of another kind than Secret."""
    immutable: bool = False
    """Marks the Secret as immutable: later values are refused until it is deleted. Example: true"""


class SyncWindow(Model):
    """A time span that begins on a schedule.

    Example: {schedule: 0 2 * * *, duration: 2h}
    """

    schedule: Annotated[str, Meta(min_length=1, pattern=SCHEDULE)]
    """When it begins: a cron expression of five fields in UTC, or such as `@daily`; one that cannot be read
    never begins.
    Example: 0 2 * * *"""
    duration: Duration
    """How long it lasts. Example: 2h"""


class SyncWindows(Model):
    """When refreshes by interval are allowed, or denied; changes and `syncret refresh` are not held to it.

    Example: {kind: allow, windows: [{schedule: 0 2 * * *, duration: 2h}]}
    """

    kind: Literal["allow", "deny"]
    """Whether refreshes happen only in the windows (allow), or only outside of them (deny). Example: allow"""
    windows: Annotated[tuple[SyncWindow, ...], Meta(min_length=1)]
    """The windows; one that is open is enough."""


class ExternalSecretSpec(Model):
    """Which values are read from which stores, when, and the target that is written from them.

    Example: {secretStoreRef: {name: vault}, dataFrom: [{extract: {key: database/prod}}]}
    """

    secret_store_ref: StoreRef = StoreRef()
    """The store of all entries that name none of their own."""
    target: Target = msgspec.field(default_factory=Target)
    """The object that is written, who owns it, and what happens to it when the values are gone.
    Example: {name: database}"""
    refresh_policy: Literal["CreatedOnce", "Periodic", "OnChange"] | None = None
    """Periodic (the default) reads at each interval, OnChange only after a change of this object, CreatedOnce
    never again.
    Example: OnChange"""
    refresh_interval: Duration = "1h0m0s"
    """How often the values are read again; `0s`: once, so that a rotation does not arrive. Example: 15m"""
    sync_windows: SyncWindows | None = None
    """Times at which refreshes by interval are allowed, or denied."""
    data: tuple[Data, ...] = ()
    """Single values, each under a key of its own; they win over those of `dataFrom`."""
    data_from: tuple[DataFrom, ...] = ()
    """Sources of many keys at once; a later one wins over an earlier one."""


class ExternalSecretCondition(Model):
    """One condition of an ExternalSecret."""

    type: Literal["Ready", "Deleted", "ConstraintsSatisfied"]
    """Ready: the target is as the spec says. Deleted: the target was deleted. ConstraintsSatisfied: what
    was fetched holds to the annotation syncret.dev/constraints. Example: Ready"""
    status: str
    """True, False, or Unknown. Example: 'True'"""
    reason: str = ""
    """Why, as one word for programs. Example: SecretSynced"""
    message: str = ""
    """Why, for people; it never quotes a secret value. Example: secret synced"""
    last_transition_time: Timestamp = ""
    """When the condition last changed. Example: '2026-01-01T00:00:00Z'"""


class Binding(Model):
    """The Secret that was written, as the Service Binding specification wants it named.

    Example: {name: database}
    """

    ATOMIC: ClassVar[bool] = True

    name: Defaulted[str] = ""
    """Name of the Secret. Example: database"""


class ExternalSecretStatus(Model):
    """The result of the last runs; ignored in a manifest.

    Example: {}
    """

    refresh_time: Nullable[Timestamp] = None
    """When the values were last read. Example: '2026-01-01T00:00:00Z'"""
    synced_resource_version: str = ""
    """Generation and a hash of labels and annotations at the last sync: shows whether the object changed
    since.
    Example: 1-6a7c1c5e"""
    conditions: tuple[ExternalSecretCondition, ...] = ()
    """Whether the target is as the spec says.
    Example: [{type: Ready, status: 'True', reason: SecretSynced}]"""
    binding: Binding | None = None
    """The Secret that was written."""


class ExternalSecret(Resource):
    """Keeps one target in sync with values in stores."""

    spec: ExternalSecretSpec = ExternalSecretSpec()
    """Which values are read from which stores, when, and the target that is written from them."""
    status: ExternalSecretStatus = ExternalSecretStatus()
    """The result of the last runs; ignored in a manifest."""
