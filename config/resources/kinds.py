"""The table of kinds: the model of each, its scope, its versions, and its rules beyond the schema."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeVar, get_origin

from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.config.meta import Document, GroupKind
from syncret.config.resources import (
    cluster,
    core,
    external_secret,
    external_secret_rules,
    generators,
    push_secret,
    secret_store,
)
from syncret.config.resources.base import GENERATORS_GROUP, GROUP, Resource

R = TypeVar("R", bound=Resource)
Check = Callable[[Any, Catalog], Iterator[Problem]]


class Kind(Struct, frozen=True):
    """One kind. `versions` are those that are accepted; the first is the storage version."""

    group: str
    kind: str
    versions: tuple[str, ...]
    plural: str
    namespaced: bool
    model: type[Model]
    check: Check | None = None
    update: Callable[[Document, Document], Iterator[Problem]] | None = None
    """The rules between the previous version and the new one: which fields are immutable."""
    webhook: bool = False
    """Whether ESO's admission webhook checks it: only then is a malformed duration refused at admission."""

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    @property
    def has_status(self) -> bool:
        """Whether the kind has a status subresource: a status in a manifest is ignored."""
        return _has_status(self.model)

    @property
    def api_version(self) -> str:
        """The storage version."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]


@lru_cache
def _has_status(model: type[Model]) -> bool:
    plain: Any = get_origin(model) or model
    return "status" in plain.__struct_fields__


def _without_catalog(check: Callable[[R], Iterator[Problem]]) -> Check:
    """A check that needs no catalog."""

    def with_catalog(resource: R, _catalog: Catalog) -> Iterator[Problem]:
        return check(resource)

    return with_catalog


V1: Final = ("v1",)
V1ALPHA1: Final = ("v1alpha1",)
STORE_VERSIONS: Final = ("v1", "v1beta1")

KINDS: Final = (
    Kind(
        GROUP,
        "ExternalSecret",
        STORE_VERSIONS,
        "externalsecrets",
        namespaced=True,
        model=external_secret.ExternalSecret,
        check=_without_catalog(external_secret_rules.check),
        webhook=True,
    ),
    Kind(
        GROUP,
        "SecretStore",
        STORE_VERSIONS,
        "secretstores",
        namespaced=True,
        model=secret_store.SecretStore,
        check=secret_store.check,
        webhook=True,
    ),
    Kind(
        GROUP,
        "ClusterSecretStore",
        STORE_VERSIONS,
        "clustersecretstores",
        namespaced=False,
        model=secret_store.ClusterSecretStore,
        check=secret_store.check,
        webhook=True,
    ),
    Kind(
        GROUP,
        "ClusterExternalSecret",
        STORE_VERSIONS,
        "clusterexternalsecrets",
        namespaced=False,
        model=cluster.ClusterExternalSecret,
    ),
    Kind(GROUP, "PushSecret", V1ALPHA1, "pushsecrets", namespaced=True, model=push_secret.PushSecret),
    Kind(
        GROUP,
        "ClusterPushSecret",
        V1ALPHA1,
        "clusterpushsecrets",
        namespaced=False,
        model=cluster.ClusterPushSecret,
    ),
    Kind(
        GENERATORS_GROUP,
        "ClusterGenerator",
        V1ALPHA1,
        "clustergenerators",
        namespaced=False,
        model=generators.ClusterGenerator,
        check=generators.check_cluster,
    ),
    Kind(
        GENERATORS_GROUP,
        "GeneratorState",
        V1ALPHA1,
        "generatorstates",
        namespaced=True,
        model=generators.GeneratorState,
    ),
    Kind(
        "",
        "Secret",
        V1,
        "secrets",
        namespaced=True,
        model=core.Secret,
        check=_without_catalog(core.check_secret),
        update=core.check_update,
    ),
    Kind(
        "",
        "ConfigMap",
        V1,
        "configmaps",
        namespaced=True,
        model=core.ConfigMap,
        check=_without_catalog(core.check_config_map),
        update=core.check_update,
    ),
    Kind("", "Namespace", V1, "namespaces", namespaced=False, model=core.Namespace),
    Kind("", "ServiceAccount", V1, "serviceaccounts", namespaced=True, model=core.ServiceAccount),
)


class Kinds:
    """All kinds, including the catalog's generators, whose models are imported on first use."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known = {kind.group_kind: kind for kind in KINDS}

    def find(self, group_kind: GroupKind) -> Kind | None:
        """The kind of that name, whatever the version."""
        known = self._known.get(group_kind)
        if known is None and group_kind.group == GENERATORS_GROUP:
            known = self._generator(group_kind.kind)
        return known

    def names(self) -> list[GroupKind]:
        """The names of all kinds; imports nothing."""
        own = [GroupKind(GENERATORS_GROUP, kind) for kind in self._catalog.generator_kinds()]
        return [*dict.fromkeys([*(kind.group_kind for kind in KINDS), *own])]

    def _generator(self, name: str) -> Kind | None:
        if name not in self._catalog.generator_kinds():
            return None
        model: Any = generators.GeneratorObject[self._catalog.generator(name).model]  # type: ignore[misc]  # a type made at run time
        plural = f"{name.lower()}s"
        kind = Kind(
            GENERATORS_GROUP, name, V1ALPHA1, plural, namespaced=True, model=model, check=generators.check
        )
        self._known[kind.group_kind] = kind
        return kind
