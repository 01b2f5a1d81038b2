"""The kinds that the operator watches, and the context of its runs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.meta import Document, GroupKind, ObjectRef, ref_of
from syncret.config.resources.kinds import (
    CONFIG_MAP,
    EXTERNAL_SECRETS_CONFIG,
    EXTERNAL_SECRETS_MANAGER,
    NAMESPACE,
    SECRET,
    SERVICE_ACCOUNT,
)
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.applying import Applier
from syncret.daemon.homes.kubernetes.scope import Selected
from syncret.daemon.install.operator.choices import Environment
from syncret.daemon.install.operator.components import MANAGED_BY, NAME, OPERATOR, PART_OF
from syncret.daemon.operator.metrics import OperatorMetrics

CONFIG: Final = EXTERNAL_SECRETS_CONFIG.ref("", "cluster")
MANAGER: Final = EXTERNAL_SECRETS_MANAGER.ref("", "cluster")

DEPLOYMENT: Final = GroupKind("apps", "Deployment")
CERTIFICATE: Final = GroupKind("cert-manager.io", "Certificate")
CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
_RIGHTS: Final = "rbac.authorization.k8s.io"
RIGHTS: Final = (GroupKind(_RIGHTS, "Role"), GroupKind(_RIGHTS, "RoleBinding"))
WEBHOOKS: Final = GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")

_OURS: Final = Selected(f"{PART_OF}={OPERATOR}")
_OURS_ANYWHERE: Final = Selected(f"{PART_OF}={OPERATOR}", everywhere=True)
"""Roles are installed in other namespaces, too."""

OBJECTS: Final[Mapping[GroupKind, Selected]] = {
    NAMESPACE.group_kind: _OURS,
    GroupKind("networking.k8s.io", "NetworkPolicy"): _OURS,
    SERVICE_ACCOUNT.group_kind: _OURS,
    CERTIFICATE: _OURS,
    SECRET.group_kind: Selected(),  # and those that the configuration names
    CONFIG_MAP.group_kind: _OURS,
    GroupKind(_RIGHTS, "ClusterRole"): _OURS,
    GroupKind(_RIGHTS, "ClusterRoleBinding"): _OURS,
    **dict.fromkeys(RIGHTS, _OURS_ANYWHERE),
    GroupKind("", "Service"): _OURS,
    DEPLOYMENT: _OURS,
    WEBHOOKS: _OURS,
}
"""The kinds of what is installed."""

WATCHED: Final[Mapping[GroupKind, Selected]] = {
    CONFIG.group_kind: Selected(),
    MANAGER.group_kind: Selected(),
    **OBJECTS,
    GroupKind("cert-manager.io", "Issuer"): Selected(),
    GroupKind("cert-manager.io", "ClusterIssuer"): Selected(),
    CRD: Selected(head=True),
}
"""All kinds that are watched; whatever is installed, in its namespace alone."""

_MARKS: Final = {MANAGED_BY: OPERATOR, PART_OF: OPERATOR, "app.kubernetes.io/instance": NAME}


class Cluster(Struct, frozen=True, kw_only=True):
    """The context of a run of the operator."""

    applier: Applier
    inventory: Inventory
    catalog: Catalog
    environment: Environment
    namespace: str
    """The one that is watched."""
    now: Callable[[], float]
    record_event: Callable[..., None]
    """As the home's own."""
    metrics: OperatorMetrics
    resync: float
    contested_after: int
    move: Callable[[str], None]
    """Restart the watches, in another namespace."""
    wake: Callable[[ObjectRef], object]

    def live(self, document: Document) -> StoredObject | None:
        """The object that a document describes, as the watches have shown it last."""
        return self.inventory.get(ref_of(document))

    def ours(self) -> Iterator[StoredObject]:
        """All objects that carry the marks of what is installed here."""
        for kind in OBJECTS:
            for stored in self.inventory.list(kind):
                labels = self.inventory.labels(stored.ref)
                if all(labels.get(name) == value for name, value in _MARKS.items()):
                    yield stored
