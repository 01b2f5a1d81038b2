"""The table of kinds: the names of each, its role, its scope and versions, its model and the rules beyond it.

Everything that depends on the kind of an object is read from here: a new kind is one row and one model. A
model is imported when its first document is read.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from importlib import import_module
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_origin

from msgspec import Meta, Struct

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.base import (
    GENERATORS_GROUP,
    GROUP,
    OPERATOR_GROUP,
    SYNCRET_GROUP,
    Resource,
    WebhookRule,
)

Role: TypeAlias = Literal[
    "store", "sync", "push", "fan_out", "generator", "record", "core", "install", "delivery"
]
"""What a kind is for: `sync` reads values from stores and `push` writes them there, `fan_out` creates objects
in many namespaces, `record` keeps what a generator made, `install` says what the operator installs,
`delivery` what becomes of values on a host, `core` is one of Kubernetes' own kinds."""

Values: TypeAlias = Literal["none", "data", "embedded"]
"""Where secret values can be in an object: nowhere, in its data, or somewhere in its spec."""

StoreKind: TypeAlias = Literal["SecretStore", "ClusterSecretStore"]
NamespacedGenerator: TypeAlias = Annotated[str, Meta(extra={"catalog": "kinds"})]
"""The kind of a generator of the catalog, which other distributions add to."""

GeneratorKind: TypeAlias = Annotated[str, Meta(extra={"catalog": "kinds", "enum": ("ClusterGenerator",)})]
"""The kind that a reference to a generator may name."""

Check: TypeAlias = Callable[[Any, Catalog], Iterator[Problem]]
UpdateCheck: TypeAlias = Callable[[Document, Document], Iterator[Problem]]


class Kind(Struct, frozen=True, kw_only=True, dict=True):
    """One kind. `versions` are those that are accepted; the first is the storage version.

    A field that ends with `_at` names a definition as `module:name`. What follows from the fields is computed
    when it is first asked for.
    """

    group: str
    kind: str
    role: Role
    versions: tuple[str, ...]
    model_at: str = ""
    check_at: str = ""
    update_check_at: str = ""
    rules_at: str = ""
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    child: Self | None = None
    """The kind that it creates in each namespace that it selects."""
    values: Values = "none"
    has_generation: bool = True
    """Whether an API server counts the changes of its spec in `metadata.generation`."""
    metrics_prefix: str = ""
    """The first part of the names of its metrics. A kind with metrics is shown by `status` and `explain`."""
    webhook: bool = False
    """Whether ESO's admission webhook checks it: only then is a malformed duration refused at admission."""
    generator: Callable[[], type[Resource]] | None = None
    """Makes the model of a generator from its spec in the catalog."""

    @cached_property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    def ref(self, namespace: str, name: str) -> ObjectRef:
        """One object of this kind."""
        return ObjectRef(self.group, self.kind, namespace, name)

    @cached_property
    def api_version(self) -> str:
        """The storage version."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]

    @property
    def plural(self) -> str:
        """The name in the path of an API request."""
        name = self.kind.lower()
        return f"{name[:-1]}ies" if name.endswith("ry") else f"{name}s"

    @property
    def field(self) -> str:
        """The name in lower camel case, as fields begin with it: `externalSecret`."""
        return f"{self.kind[0].lower()}{self.kind[1:]}"

    @cached_property
    def model(self) -> type[Resource]:
        """The model that reads a document of this kind. Raises BrokenEntry for a generator that is broken."""
        return _imported(self.model_at) if self.generator is None else self.generator()

    @cached_property
    def check(self) -> Check | None:
        """The rules beyond the schema."""
        return _imported(self.check_at) if self.check_at else None

    @cached_property
    def rules(self) -> Sequence[WebhookRule]:
        """The rules of `check` that the CRD states, too."""
        return _imported(self.rules_at) if self.rules_at else ()

    @cached_property
    def update_check(self) -> UpdateCheck | None:
        """The rules between the previous version and the new one: which fields are immutable."""
        return _imported(self.update_check_at) if self.update_check_at else None

    @cached_property
    def has_status(self) -> bool:
        """Whether the kind has a status subresource: a status in a manifest is ignored."""
        plain: Any = get_origin(self.model) or self.model
        return "status" in plain.__struct_fields__


@lru_cache
def _imported(address: str) -> Any:  # noqa: ANN401  # a model or a rule, as the property that asks says
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


_V1: Final = ("v1",)
_V1ALPHA1: Final = ("v1alpha1",)
_V1_V1BETA1: Final = ("v1", "v1beta1")

EXTERNAL_SECRET: Final = Kind(
    group=GROUP,
    kind="ExternalSecret",
    role="sync",
    versions=_V1_V1BETA1,
    model_at="syncret.config.resources.external_secret:ExternalSecret",
    check_at="syncret.config.resources.external_secret_rules:check",
    rules_at="syncret.config.resources.external_secret_rules:RULES",
    short_names=("es",),
    metrics_prefix="externalsecret",
    webhook=True,
)
PUSH_SECRET: Final = Kind(
    group=GROUP,
    kind="PushSecret",
    role="push",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.push_secret:PushSecret",
    short_names=("ps",),
    metrics_prefix="pushsecret",
)
SECRET_STORE: Final = Kind(
    group=GROUP,
    kind="SecretStore",
    role="store",
    versions=_V1_V1BETA1,
    model_at="syncret.config.resources.secret_store:SecretStore",
    check_at="syncret.config.resources.secret_store:check",
    short_names=("ss",),
    values="embedded",
    metrics_prefix="secretstore",
    webhook=True,
)
CLUSTER_SECRET_STORE: Final = Kind(
    group=GROUP,
    kind="ClusterSecretStore",
    role="store",
    versions=_V1_V1BETA1,
    model_at="syncret.config.resources.secret_store:ClusterSecretStore",
    check_at="syncret.config.resources.secret_store:check",
    namespaced=False,
    short_names=("css",),
    values="embedded",
    metrics_prefix="clustersecretstore",
    webhook=True,
)
CLUSTER_EXTERNAL_SECRET: Final = Kind(
    group=GROUP,
    kind="ClusterExternalSecret",
    role="fan_out",
    versions=_V1_V1BETA1,
    model_at="syncret.config.resources.cluster:ClusterExternalSecret",
    namespaced=False,
    short_names=("ces",),
    child=EXTERNAL_SECRET,
    metrics_prefix="clusterexternalsecret",
)
CLUSTER_PUSH_SECRET: Final = Kind(
    group=GROUP,
    kind="ClusterPushSecret",
    role="fan_out",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.cluster:ClusterPushSecret",
    namespaced=False,
    short_names=("cps",),
    child=PUSH_SECRET,
    metrics_prefix="clusterpushsecret",
)
CLUSTER_GENERATOR: Final = Kind(
    group=GENERATORS_GROUP,
    kind="ClusterGenerator",
    role="generator",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.generators:ClusterGenerator",
    check_at="syncret.config.resources.generators:check_cluster",
    namespaced=False,
    values="embedded",
)
GENERATOR_STATE: Final = Kind(
    group=GENERATORS_GROUP,
    kind="GeneratorState",
    role="record",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.generators:GeneratorState",
    short_names=("gs",),
)
SECRET: Final = Kind(
    group="",
    kind="Secret",
    role="core",
    versions=_V1,
    model_at="syncret.config.resources.core:Secret",
    check_at="syncret.config.resources.core:check_secret",
    update_check_at="syncret.config.resources.core:check_update",
    values="data",
    has_generation=False,
)
CONFIG_MAP: Final = Kind(
    group="",
    kind="ConfigMap",
    role="core",
    versions=_V1,
    model_at="syncret.config.resources.core:ConfigMap",
    check_at="syncret.config.resources.core:check_config_map",
    update_check_at="syncret.config.resources.core:check_update",
    values="data",
    has_generation=False,
)
NAMESPACE: Final = Kind(
    group="",
    kind="Namespace",
    role="core",
    versions=_V1,
    model_at="syncret.config.resources.core:Namespace",
    namespaced=False,
    has_generation=False,
)
SERVICE_ACCOUNT: Final = Kind(
    group="",
    kind="ServiceAccount",
    role="core",
    versions=_V1,
    model_at="syncret.config.resources.core:ServiceAccount",
    has_generation=False,
)

EXTERNAL_SECRETS_CONFIG: Final = Kind(
    group=OPERATOR_GROUP,
    kind="ExternalSecretsConfig",
    role="install",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.operator.config:ExternalSecretsConfig",
    namespaced=False,
    short_names=("esc", "externalsecretsconfig", "esconfig"),
)
EXTERNAL_SECRETS_MANAGER: Final = Kind(
    group=OPERATOR_GROUP,
    kind="ExternalSecretsManager",
    role="install",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.operator.manager:ExternalSecretsManager",
    namespaced=False,
    short_names=("esm", "externalsecretsmanager", "esmanager"),
)

DELIVERY: Final = Kind(
    group=SYNCRET_GROUP,
    kind="Delivery",
    role="delivery",
    versions=_V1ALPHA1,
    model_at="syncret.config.resources.delivery.delivery:Delivery",
    check_at="syncret.config.resources.delivery.rules:check",
    short_names=("dlv",),
)

KINDS: Final = (
    *(EXTERNAL_SECRET, PUSH_SECRET, SECRET_STORE, CLUSTER_SECRET_STORE),
    *(CLUSTER_EXTERNAL_SECRET, CLUSTER_PUSH_SECRET, CLUSTER_GENERATOR, GENERATOR_STATE),
    *(SECRET, CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT),
)
"""All kinds that a daemon handles, except the generators, which are in the catalog."""

OPERATOR_KINDS: Final = (EXTERNAL_SECRETS_CONFIG, EXTERNAL_SECRETS_MANAGER)
"""The kinds of the operator: validated like the others, and ignored by a daemon."""

HOST_KINDS: Final = (DELIVERY,)
"""The kinds of hosts and sidecars: a daemon that writes to a cluster neither watches nor validates them."""

SHOWN: Final = tuple(kind for kind in KINDS if kind.metrics_prefix)
"""The kinds that `status`, `explain` and the metrics show."""

SHOWN_ON_HOST: Final = (*SHOWN, DELIVERY)
"""The kinds that `status`, `explain` and `refresh` of a running daemon know."""

PARTS_OF_RELEASES: Final = frozenset({"Module", "Release", "Platform", "ResolvedRelease"})
"""The kinds that `syncret release` reads, and a host if they are in one file. None is stored as an object."""

OUR_GROUPS: Final = frozenset(kind.group for kind in (*KINDS, *HOST_KINDS) if kind.role != "core")

_SHOWN: Final = frozenset(kind.group_kind for kind in SHOWN_ON_HOST)
_ALL: Final = (*KINDS, *OPERATOR_KINDS, *HOST_KINDS)
_BY_NAME: Final = {kind.kind: kind for kind in _ALL}
_BY_GROUP_KIND: Final[dict[tuple[str, str], Kind]] = {kind.group_kind: kind for kind in _ALL}
"""By group and kind: a GroupKind, or the first two members of a reference, which are quicker to get."""


def kind_named(name: str) -> Kind | None:
    """The kind of that name in any group; None for a generator of the catalog."""
    return _BY_NAME.get(name)


def kind_of(group_kind: tuple[str, str]) -> Kind | None:
    """The row of a kind; None for a generator of the catalog."""
    return _BY_GROUP_KIND.get(group_kind)


def role_of(group_kind: tuple[str, str]) -> Role | None:
    """The role of a kind; None if it is not one of ours."""
    kind = _BY_GROUP_KIND.get(group_kind)
    if kind is not None:
        return kind.role
    return "generator" if group_kind[0] == GENERATORS_GROUP else None


def is_shown(group_kind: tuple[str, str]) -> bool:
    """Whether `status`, `explain` and the metrics show objects of that kind."""
    return group_kind in _SHOWN


def store_ref(kind: str, name: str, namespace: str) -> ObjectRef:
    """The store of that name, as an object of that namespace refers to it."""
    return ObjectRef(GROUP, kind, "" if kind == CLUSTER_SECRET_STORE.kind else namespace, name)


def generator_ref(kind: str, name: str, namespace: str) -> ObjectRef:
    """The generator of that name, as an object of that namespace refers to it."""
    return ObjectRef(GENERATORS_GROUP, kind, "" if kind == CLUSTER_GENERATOR.kind else namespace, name)


class Kinds:
    """All kinds, including the catalog's generators, whose models are imported on first use."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known = dict(_BY_GROUP_KIND)

    def find(self, group_kind: GroupKind) -> Kind | None:
        """The kind of that name, whatever the version."""
        known = self._known.get(group_kind)
        if known is None and group_kind.group == GENERATORS_GROUP:
            known = self._generator(group_kind.kind)
        return known

    def known(self) -> list[GroupKind]:
        """The names of all kinds that a manifest may be of; imports nothing."""
        return [*self.names(), *(kind.group_kind for kind in (*OPERATOR_KINDS, *HOST_KINDS))]

    def names(self) -> list[GroupKind]:
        """The names of the kinds that a daemon handles; imports nothing."""
        own = [GroupKind(GENERATORS_GROUP, kind) for kind in self._catalog.generator_kinds()]
        return [*dict.fromkeys([*(kind.group_kind for kind in KINDS), *own])]

    def _generator(self, name: str) -> Kind | None:
        if name not in self._catalog.generator_kinds():
            return None
        kind = Kind(
            group=GENERATORS_GROUP,
            kind=name,
            role="generator",
            versions=_V1ALPHA1,
            check_at="syncret.config.resources.generators:check",
            values="embedded",
            generator=partial(self._generator_model, name),
        )
        self._known[kind.group_kind] = kind
        return kind

    def _generator_model(self, name: str) -> type[Resource]:
        of_spec: Any = _imported("syncret.config.resources.generators:GeneratorObject")
        model: type[Resource] = of_spec[self._catalog.generator(name).model]
        return model
