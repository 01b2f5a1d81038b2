"""Which objects of a cluster a home follows."""

from collections.abc import Collection
from typing import NamedTuple

from syncret.config.meta import GroupKind
from syncret.config.resources.kinds import EXTERNAL_SECRET, kind_of


class Scope(NamedTuple):
    """What of a cluster is watched."""

    namespace: str = ""
    """The one namespace; empty: all."""
    without: Collection[str] = ()
    """Kinds that are not."""
    selector: str = ""
    """The labels of the ExternalSecrets that are; empty: any."""

    def has(self, kind: GroupKind) -> bool:
        """Whether objects of the kind are watched."""
        return kind.kind not in self.without and (not self.namespace or _concerns_namespaces(kind))

    def labels(self, kind: GroupKind) -> str:
        """The label selector of the kind's watch."""
        return self.selector if kind == EXTERNAL_SECRET.group_kind else ""


def _concerns_namespaces(kind: GroupKind) -> bool:
    """Whether a kind matters to who works in one namespace: what others make in many does not."""
    known = kind_of(kind)
    return known is None or known.namespaced or known.role in {"store", "generator"}
