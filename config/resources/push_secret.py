"""PushSecret: which keys of a Secret are written to which stores."""

from typing import ClassVar, Literal, TypeAlias

from syncret.config.fields import Duration, Json, LabelSelector, Model, Name, Nullable, Rule, Timestamp
from syncret.config.meta import Document
from syncret.config.resources.base import ConditionStatus, Resource
from syncret.config.resources.external_secret import GeneratorRef, RewriteRegexp, RewriteTransform
from syncret.config.resources.kinds import StoreKind
from syncret.config.resources.templates import Template

PushConversion: TypeAlias = Literal["None", "ReverseUnicode"]


class PushStoreRef(Model):
    """A store by name, or every store whose labels match."""

    name: Name = ""
    label_selector: LabelSelector | None = None
    kind: StoreKind = "SecretStore"


class PushSecretSource(Model):
    """A Secret by name, or every Secret whose labels match."""

    name: Name = ""
    selector: LabelSelector | None = None


class PushSelector(Model):
    """The source of the values."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    secret: PushSecretSource | None = None
    generator_ref: GeneratorRef | None = None


class PushRemoteRef(Model):
    """The key and property in the store."""

    remote_key: str
    property: str = ""


class PushMatch(Model):
    """A key of the source (none: the whole Secret) and its place in the store."""

    remote_ref: PushRemoteRef
    secret_key: str = ""


class PushData(Model):
    """One value to push."""

    match: PushMatch
    metadata: Json = None
    conversion_strategy: PushConversion = "None"


class PushKeys(Model):
    """Which keys of the source; an empty expression matches all."""

    regexp: str = ""


def _one_rewrite(document: Document) -> bool:
    return ("regexp" in document) != ("transform" in document)


class PushRewrite(Model):
    """One rewrite of the keys that are pushed."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "exactly one of regexp or transform must be set",
            "(has(self.regexp) && !has(self.transform)) || (!has(self.regexp) && has(self.transform))",
            _one_rewrite,
        ),
    )

    regexp: RewriteRegexp | None = None
    transform: RewriteTransform | None = None


def _store_named(document: Document) -> bool:
    store = document.get("storeRef")
    return store is not None and ("name" in store or "labelSelector" in store)


def _bundle_or_rewrite(document: Document) -> bool:
    return "remoteKey" not in document or not document.get("rewrite")


class PushDataTo(Model):
    """Many values to push: each under a key of its own, or all as one bundle (`remoteKey`)."""

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
    remote_key: str = ""
    match: PushKeys | None = None
    rewrite: tuple[PushRewrite, ...] = ()
    metadata: Json = None
    conversion_strategy: PushConversion = "None"


class PushSecretSpec(Model):
    """The source, the stores, and what is pushed."""

    secret_store_refs: tuple[PushStoreRef, ...]
    selector: PushSelector
    refresh_interval: Duration = "1h0m0s"
    update_policy: Literal["Replace", "IfNotExists"] = "Replace"
    deletion_policy: Literal["Delete", "None"] = "None"
    data: tuple[PushData, ...] = ()
    data_to: tuple[PushDataTo, ...] = ()
    template: Template | None = None


class PushSecretStatus(Model):
    """The result of the last runs; `synced_push_secrets` lists, by store and remote key, what was pushed."""

    refresh_time: Nullable[Timestamp] = None
    synced_resource_version: str = ""
    synced_push_secrets: dict[str, dict[str, PushData]] = {}
    conditions: tuple[ConditionStatus, ...] = ()


class PushSecret(Resource):
    """Keeps entries of stores in sync with a Secret."""

    spec: PushSecretSpec = PushSecretSpec(secret_store_refs=(), selector=PushSelector())
    status: PushSecretStatus = PushSecretStatus()
