"""PushSecret: which keys of a Secret are written to which stores."""

from typing import ClassVar, Literal, TypeAlias

from syncret.config.fields import (
    Duration,
    Json,
    LabelSelector,
    Model,
    Name,
    Nullable,
    Rule,
    Timestamp,
    either_alone,
)
from syncret.config.meta import Document
from syncret.config.resources.base import ConditionStatus, Resource
from syncret.config.resources.external_secret import GeneratorRef, RewriteRegexp, RewriteTransform
from syncret.config.resources.kinds import StoreKind
from syncret.config.resources.templates import Template

PushConversion: TypeAlias = Literal["None", "ReverseUnicode"]


class PushStoreRef(Model):
    """A store by name, or every store whose labels match.

    Example: {name: vault}
    """

    name: Name = ""
    """Name of the store; without it the labels choose. Example: vault"""
    label_selector: LabelSelector | None = None
    """Labels of the stores, which must be of that kind."""
    kind: StoreKind = "SecretStore"
    """SecretStore (of the same namespace) or ClusterSecretStore. Example: ClusterSecretStore"""


class PushSecretSource(Model):
    """A Secret by name, or every Secret whose labels match.

    Example: {name: database}
    """

    name: Name = ""
    """Name of the Secret; as soon as it exists, it is pushed. Example: database"""
    selector: LabelSelector | None = None
    """Labels of the Secrets to push, all of the same namespace."""


class PushSelector(Model):
    """Where the values come from: a Secret, or a generator.

    Example: {secret: {name: database}}
    """

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    secret: PushSecretSource | None = None
    """The Secret or Secrets whose values are pushed."""
    generator_ref: GeneratorRef | None = None
    """The generator whose values are pushed; each push makes new ones, so pair it with an interval of
    hours."""


class PushRemoteRef(Model):
    """The place in the store that a value is written to.

    Example: {remoteKey: apps/shop/database, property: password}
    """

    remote_key: str
    """Name or path of the entry, as the secret manager spells it; two values for one place are an error.
    Example: apps/shop/database"""
    property: str = ""
    """Member of the entry that is set, while its other members stay; empty: the whole entry is replaced.
    Example: password"""


class PushMatch(Model):
    """A key of the source (none: the whole Secret) and its place in the store.

    Example: {secretKey: password, remoteRef: {remoteKey: apps/shop/database, property: password}}
    """

    remote_ref: PushRemoteRef
    """Where the value is written."""
    secret_key: str = ""
    """Key of the source; empty: all of them, as one JSON object. Example: password"""


class PushData(Model):
    """One value to push.

    Example: {match: {secretKey: password, remoteRef: {remoteKey: apps/shop/database}}}
    """

    match: PushMatch
    """Which value is written where."""
    metadata: Json = None
    """Options of the provider for this entry, such as tags; each provider's page lists its own.
    Example: {apiVersion: kubernetes.external-secrets.io/v1alpha1, kind: PushSecretMetadata, spec: {tags:
    {team: payments}}}"""
    conversion_strategy: PushConversion = "None"
    """ReverseUnicode turns `_U<hex>_` in keys back into the character, as `conversionStrategy: Unicode` wrote
    it.
    Example: ReverseUnicode"""


class PushKeys(Model):
    """Which keys of the source; an empty expression matches all.

    Example: {regexp: ^db_}
    """

    regexp: str = ""
    """Regular expression (RE2) that a key must match somewhere; empty: every key. Example: ^db_"""


class PushRewrite(Model):
    """One rewrite of the keys that are pushed."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        either_alone("regexp", "transform", message="exactly one of regexp or transform must be set"),
    )

    regexp: RewriteRegexp | None = None
    """Renames keys by a regular expression."""
    transform: RewriteTransform | None = None
    """Renames keys by a template."""


def _store_named(document: Document) -> bool:
    store = document.get("storeRef")
    return store is not None and ("name" in store or "labelSelector" in store)


def _bundle_or_rewrite(document: Document) -> bool:
    return "remoteKey" not in document or not document.get("rewrite")


class PushDataTo(Model):
    """Many values to push: each under a key of its own, or all as one bundle (`remoteKey`).

    Example: {storeRef: {name: vault}, match: {regexp: ^db_}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "storeRef must specify either name or labelSelector",
            "has(self.storeRef) && (has(self.storeRef.name) || has(self.storeRef.labelSelector))",
            _store_named,
        ),
        Rule(
            "remoteKey and rewrite are mutually exclusive: rewrite is only supported in per-key mode "
            "(without remoteKey)",
            "!has(self.remoteKey) || !has(self.rewrite) || size(self.rewrite) == 0",
            _bundle_or_rewrite,
        ),
    )

    store_ref: PushStoreRef | None = None
    """The store that this entry is for; it must be among `secretStoreRefs`."""
    remote_key: str = ""
    """Name of one entry that takes all keys as a JSON object; empty: each key becomes an entry.
    Example: apps/shop/bundle"""
    match: PushKeys | None = None
    """Which keys of the source are pushed; absent: all."""
    rewrite: tuple[PushRewrite, ...] = ()
    """How a key becomes the name of its entry: each change is applied to the result of the one before."""
    metadata: Json = None
    """Options of the provider for these entries, such as tags; each provider's page lists its own.
    Example: {apiVersion: kubernetes.external-secrets.io/v1alpha1, kind: PushSecretMetadata, spec: {tags:
    {team: payments}}}"""
    conversion_strategy: PushConversion = "None"
    """ReverseUnicode turns `_U<hex>_` in keys back into the character, as `conversionStrategy: Unicode` wrote
    it.
    Example: ReverseUnicode"""


class PushSecretSpec(Model):
    """Where the values come from, which stores they go to, and what is pushed.

    Example: {secretStoreRefs: [{name: vault}], selector: {secret: {name: database}}, data: [{match:
    {remoteRef: {remoteKey: database}}}]}
    """

    secret_store_refs: tuple[PushStoreRef, ...]
    """The stores to push to; one that is not ready holds the others up. Example: [{name: vault}]"""
    selector: PushSelector
    """Where the values come from."""
    refresh_interval: Duration = "1h0m0s"
    """How often everything is pushed again, which undoes changes made at the store; `0s`: only after a change
    of this object.
    Example: 1h"""
    update_policy: Literal["Replace", "IfNotExists"] = "Replace"
    """Replace overwrites what is there; IfNotExists leaves entries that exist as they are.
    Example: IfNotExists"""
    deletion_policy: Literal["Delete", "None"] = "None"
    """Delete removes from the stores what is no longer pushed, and everything with this object; None leaves
    it there.
    Example: Delete"""
    data: tuple[PushData, ...] = ()
    """Single values, each with its place."""
    data_to: tuple[PushDataTo, ...] = ()
    """Rules that push many keys; `data` wins over them for its keys."""
    template: Template | None = None
    """Renders the values before they are pushed; the Secret itself stays as it is."""


class PushSecretStatus(Model):
    """The result of the last runs; ignored in a manifest.

    Example: {}
    """

    refresh_time: Nullable[Timestamp] = None
    """When everything was last pushed. Example: '2026-01-01T00:00:00Z'"""
    synced_resource_version: str = ""
    """Generation and a hash of labels and annotations at the last push: shows whether the object changed
    since.
    Example: 1-6a7c1c5e"""
    synced_push_secrets: dict[str, dict[str, PushData]] = {}
    """What stands at the stores because of this object, by store and remote key: what deletionPolicy Delete
    removes.
    Example: {SecretStore/vault: {apps/shop/database: {match: {secretKey: password, remoteRef: {remoteKey:
    apps/shop/database}}}}}"""
    conditions: tuple[ConditionStatus, ...] = ()
    """Whether everything was pushed."""


class PushSecret(Resource):
    """Keeps entries of stores in sync with a Secret."""

    spec: PushSecretSpec = PushSecretSpec(secret_store_refs=(), selector=PushSelector())
    """Where the values come from, which stores they go to, and what is pushed."""
    status: PushSecretStatus = PushSecretStatus()
    """The result of the last runs; ignored in a manifest."""
