"""ExternalSecret: which values are wanted, from which store, and what is made of them."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from syncret.config.errors import Problem
from syncret.config.fields import Defaulted, Duration, Model, Name, Nullable, SecretKey, Timestamp
from syncret.config.resources.base import (
    GENERATORS_API,
    ConversionStrategy,
    DecodingStrategy,
    GeneratorKind,
    Resource,
    StoreKind,
)
from syncret.config.resources.templates import Template

BOOTSTRAP_TOKEN: Final = "bootstrap.kubernetes.io/token"
SERVICE_ACCOUNT_TOKEN: Final = "kubernetes.io/service-account-token"
SERVICE_ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
SCHEDULE: Final = (
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|@every [^\s]+.*|[^\s]+( [^\s]+){4})$"
)


class StoreRef(Model):
    """The store to read from. Without a kind it is a SecretStore in the same namespace."""

    name: Name = ""
    kind: StoreKind | None = None


class GeneratorRef(Model):
    """The generator to draw from."""

    kind: GeneratorKind
    name: Name
    api_version: str = GENERATORS_API


class DataSource(Model):
    """Another store for one entry of `data`, or a generator, which ESO takes and then passes over."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    store_ref: StoreRef | None = None
    generator_ref: GeneratorRef | None = None


class RemoteReference(Model):
    """One value in a store, and how it is read."""

    key: str
    metadata_policy: Literal["None", "Fetch"] | None = None
    property: str = ""
    version: str = ""
    conversion_strategy: ConversionStrategy | None = None
    decoding_strategy: DecodingStrategy | None = None
    null_byte_policy: Literal["Ignore", "Fail"] | None = None


class Data(Model):
    """One key of the output and the value it takes."""

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
    """A template that makes a new key of the old one."""

    template: str


class RewriteMerge(Model):
    """Joins values that hold JSON objects into one set of keys, or into one key."""

    into: Defaulted[str] = ""
    priority: tuple[str, ...] = ()
    priority_policy: Literal["IgnoreNotFound", "Strict"] = "Strict"
    conflict_policy: Literal["Ignore", "Error"] = "Error"
    strategy: Literal["Extract", "JSON"] = "Extract"


class Rewrite(Model):
    """One change of keys, applied to what the change before it left."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    merge: RewriteMerge | None = None
    regexp: RewriteRegexp | None = None
    transform: RewriteTransform | None = None


class DataFromSource(Model):
    """Another store for one entry of `dataFrom`, or the generator it draws from."""

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
    """Which kind of object is written instead of a Secret."""

    api_version: Annotated[str, Meta(min_length=1)]
    kind: Annotated[str, Meta(min_length=1)]


class Target(Model):
    """The output, who owns it, and what becomes of it when the values are gone."""

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
    """What is wanted."""

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
    """What became of it."""

    refresh_time: Nullable[Timestamp] = None
    synced_resource_version: str = ""
    conditions: tuple[ExternalSecretCondition, ...] = ()
    binding: Binding | None = None


class ExternalSecret(Resource):
    """Keeps one output in step with values in stores."""

    spec: ExternalSecretSpec = ExternalSecretSpec()
    status: ExternalSecretStatus = ExternalSecretStatus()


def check(resource: ExternalSecret) -> Iterator[Problem]:
    """What the admission webhook demands beyond the schema."""
    spec = resource.spec
    yield from _policies(spec.target)
    if not spec.data and not spec.data_from:
        yield Problem(
            path="spec",
            message="either data or dataFrom should be specified",
            hint="name at least one value under spec.data, or a set of them under spec.dataFrom",
        )
    yield from check_template(spec.target.template, spec.target.manifest)
    for place, entry in enumerate(spec.data_from):
        yield from _sources(entry, f"spec.dataFrom[{place}]")
    if spec.target.deletion_policy == "Retain":
        yield from _duplicates(spec.data)


def check_template(template: Template | None, manifest: ManifestRef | None) -> Iterator[Problem]:
    """What no template may do: make tokens that outlive their owner's rights, or write past its data."""
    if template is None:
        return
    path = "spec.target.template"
    if template.type == BOOTSTRAP_TOKEN:
        yield Problem(path=f"{path}.type", message=f'template.type="{BOOTSTRAP_TOKEN}" is not allowed')
    if template.type == SERVICE_ACCOUNT_TOKEN and SERVICE_ACCOUNT_NAME in template.metadata.annotations:
        yield Problem(
            path=f"{path}.metadata.annotations",
            message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with annotation "{SERVICE_ACCOUNT_NAME}" '
            "is not allowed",
        )
    plain = manifest is None or (manifest.api_version, manifest.kind) == ("v1", "Secret")
    for place, source in enumerate(template.template_from):
        target = source.target.lower()
        where = f"{path}.templateFrom[{place}].target"
        if template.type == SERVICE_ACCOUNT_TOKEN and target == "annotations":
            yield Problem(
                path=where,
                message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with templateFrom target="Annotations" '
                "is not allowed",
            )
        if plain and target not in {"", "data", "annotations", "labels"}:
            yield Problem(
                path=where,
                message=f'templateFrom target="{source.target}" is not allowed when targeting a Secret',
                hint="write Data, Annotations or Labels",
            )


def _policies(target: Target) -> Iterator[Problem]:
    path = "spec.target.deletionPolicy"
    if target.deletion_policy == "Delete" and target.creation_policy in {"Merge", "None", "CreateOrMerge"}:
        yield Problem(
            path=path,
            message="deletionPolicy=Delete must not be used when the controller doesn't own the secret",
            hint="set creationPolicy: Owner, or another deletionPolicy",
        )
    if target.deletion_policy == "Merge" and target.creation_policy == "None":
        yield Problem(
            path=path,
            message="deletionPolicy=Merge must not be used with creationPolicy=None",
            hint="there is no Secret to merge with: set another creationPolicy or deletionPolicy",
        )


def _sources(entry: DataFrom, path: str) -> Iterator[Problem]:
    generator = entry.source_ref is not None and entry.source_ref.generator_ref is not None
    if sum((entry.find is not None, entry.extract is not None, generator)) > 1:
        yield Problem(
            path=path,
            message="extract, find, or generatorRef cannot be set at the same time",
            hint="make an entry of its own of each",
        )
    if entry.find is None and entry.extract is None and entry.source_ref is None:
        yield Problem(path=path, message="either extract, find, or sourceRef must be set to dataFrom")
    if entry.source_ref is not None and not generator and entry.source_ref.store_ref is None:
        yield Problem(
            path=f"{path}.sourceRef",
            message="generatorRef or storeRef must be set when using sourceRef in dataFrom",
        )


def _duplicates(data: tuple[Data, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, item in enumerate(data):
        if item.secret_key in seen:
            yield Problem(
                path=f"spec.data[{place}].secretKey",
                message=f"duplicate secretKey found: {item.secret_key}",
                hint="each key of the output can have one value",
            )
        seen.add(item.secret_key)
