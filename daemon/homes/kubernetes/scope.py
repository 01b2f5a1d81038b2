"""Which objects of a cluster a home follows."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from syncret.config.meta import GroupKind
from syncret.config.resources.kinds import EXTERNAL_SECRET, kind_of


class Selected(NamedTuple):
    """The objects of one kind that are watched."""

    labels: str = ""
    """The labels of its objects; empty: any."""
    everywhere: bool = False
    """In all namespaces, whatever else is watched."""
    head: bool = False
    """The metadata alone, even where it is not one of Kubernetes' own kinds."""


class Scope(NamedTuple):
    """The part of a cluster that is watched."""

    namespace: str = ""
    """The one namespace; empty: all."""
    without: Collection[str] = ()
    """Kinds that are not."""
    selector: str = ""
    """The labels of the ExternalSecrets that are; empty: any."""
    also: Collection[GroupKind] = ()
    """Kinds of hosts that are watched, too."""
    exporting: Collection[str] = ()
    """The API groups of other operators whose resources may have exports: all of their kinds are watched."""
    chosen: Mapping[GroupKind, Selected] | None = None
    """These kinds, in place of those that the daemon has a model for; of each, whole objects."""

    def of(self, kind: GroupKind) -> Selected:
        """The selection of a kind's objects."""
        if self.chosen is not None:
            return self.chosen[kind]
        return Selected(self.selector if kind == EXTERNAL_SECRET.group_kind else "")

    def has(self, kind: GroupKind) -> bool:
        """Whether objects of the kind are watched."""
        return kind.kind not in self.without and (not self.namespace or _concerns_namespaces(kind))


def _concerns_namespaces(kind: GroupKind) -> bool:
    """Whether a kind matters to a daemon of one namespace: namespaced ones, stores and generators."""
    known = kind_of(kind)
    return known is None or known.namespaced or known.role in {"store", "generator"}
