"""Immutable fields: if one has to change, the object is deleted and created again. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.meta import Document, member
from syncret.daemon.install.operator.components import MANAGED_BY, OPERATOR

_FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "Deployment": ("spec", "selector"),
    "RoleBinding": ("roleRef",),
    "ClusterRoleBinding": ("roleRef",),
}


def immutable_difference(wanted: Document, live: Document) -> str:
    """The immutable field in which a live object is not as it is wanted; empty if there is none."""
    path = _FIELDS.get(wanted["kind"], ())
    return ".".join(path) if path and member(wanted, *path) != member(live, *path) else ""


def is_managed(live: Document) -> bool:
    """Whether a live object may be deleted: it has our label."""
    return bool(member(live, "metadata", "labels").get(MANAGED_BY) == OPERATOR)


def under_spare_name(wanted: Document) -> Document:
    """The same object under an unused name, for a dry run of its creation while the old one is there."""
    return {**wanted, "metadata": {**wanted["metadata"], "name": f"{wanted['metadata']['name']}-anew"}}
