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
    """The store to read from. Without a kind it is a SecretStore in the same namespace."""

    name: Name = ""
    kind: StoreKind | None = None


class GeneratorRef(Model):
    """The generator that makes the values."""

    kind: GeneratorKind
    name: Name
    api_version: str = GENERATORS_API


class DataSource(Model):
    """Another store for one entry of `data`. A generator is accepted, and then no store is read."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    store_ref: StoreRef | None = None
    generator_ref: GeneratorRef | None = None


class RemoteReference(Model):
    """One value in a store, and how it is read and decoded."""

    key: str
    metadata_policy: Literal["None", "Fetch"] | None = None
    property: str = ""
    version: str = ""
    conversion_strategy: ConversionStrategy | None = None
    decoding_strategy: DecodingStrategy | None = None
    null_byte_policy: Literal["Ignore", "Fail"] | None = None


class Data(Model):
    """One key of the target and its value."""

    secret_key: SecretKey
    remote_ref: RemoteReference
    source_ref: DataSource | None = None


class FindName(Model):
    """Names that a regular expression matches."""

    regexp: str = ""


class Find(Model):
    """Every value whose name or tags match."""

    path: str | None = None
    name: FindName | None = None
    tags: dict[str, str] = {}
    conversion_strategy: ConversionStrategy | None = None
    decoding_strategy: DecodingStrategy | None = None
    null_byte_policy: Literal["Ignore", "Fail"] | None = None


class RewriteRegexp(Model):
    """Replaces what matches in every key, by Go's rules of expansion."""

    source: str
    target: str


class RewriteTransform(Model):
    """A template that renders a new key from the old one."""

    template: str


class RewriteMerge(Model):
    """Merges values that are JSON objects into one set of keys, or into one key."""

    into: Defaulted[str] = ""
    priority: tuple[str, ...] = ()
    priority_policy: Literal["IgnoreNotFound", "Strict"] = "Strict"
    conflict_policy: Literal["Ignore", "Error"] = "Error"
    strategy: Literal["Extract", "JSON"] = "Extract"


class Rewrite(Model):
    """One rewrite of keys, applied to the result of the one before."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    merge: RewriteMerge | None = None
    regexp: RewriteRegexp | None = None
    transform: RewriteTransform | None = None


class DataFromSource(Model):
    """Another store for one entry of `dataFrom`, or the generator that makes its values."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    store_ref: StoreRef | None = None
    generator_ref: GeneratorRef | None = None


class DataFrom(Model):
    """Many keys at once: of one value, of all values that match, or of a generator."""

    extract: RemoteReference | None = None
    find: Find | None = None
    rewrite: tuple[Rewrite, ...] = ()
    source_ref: DataFromSource | None = None


class ManifestRef(Model):
    """The kind of object that is written instead of a Secret."""

    api_version: Annotated[str, Meta(min_length=1)]
    kind: Annotated[str, Meta(min_length=1)]


class Target(Model):
    """The object that is written, who owns it, and what happens to it when the values are gone."""

    name: Name = ""
    creation_policy: Literal["Owner", "Orphan", "Merge", "None", "CreateOrMerge"] = "Owner"
    deletion_policy: Literal["Delete", "Merge", "Retain"] = "Retain"
    template: Template | None = None
    manifest: ManifestRef | None = None
    immutable: bool = False


class SyncWindow(Model):
    """A time span that begins on a schedule."""

    schedule: Annotated[str, Meta(min_length=1, pattern=SCHEDULE)]
    duration: Duration


class SyncWindows(Model):
    """When refreshes are allowed, or denied."""

    kind: Literal["allow", "deny"]
    windows: Annotated[tuple[SyncWindow, ...], Meta(min_length=1)]


class ExternalSecretSpec(Model):
    """The values to read, and the target."""

    secret_store_ref: StoreRef = StoreRef()
    target: Target = msgspec.field(default_factory=Target)
    refresh_policy: Literal["CreatedOnce", "Periodic", "OnChange"] | None = None
    refresh_interval: Duration = "1h0m0s"
    sync_windows: SyncWindows | None = None
    data: tuple[Data, ...] = ()
    data_from: tuple[DataFrom, ...] = ()


class ExternalSecretCondition(Model):
    """One condition of an ExternalSecret."""

    type: Literal["Ready", "Deleted"]
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: Timestamp = ""


class Binding(Model):
    """The name of the Secret that was written."""

    name: Defaulted[str] = ""


class ExternalSecretStatus(Model):
    """The result of the last runs."""

    refresh_time: Nullable[Timestamp] = None
    synced_resource_version: str = ""
    conditions: tuple[ExternalSecretCondition, ...] = ()
    binding: Binding | None = None


class ExternalSecret(Resource):
    """Keeps one target in sync with values in stores."""

    spec: ExternalSecretSpec = ExternalSecretSpec()
    status: ExternalSecretStatus = ExternalSecretStatus()
