"""Checks whether a document is allowed in a folder of manifests that is bound to namespaces and kinds."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from msgspec.structs import replace

from syncret.config.errors import Problem
from syncret.config.manifests.loader import is_below
from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.config.resources.kinds import DELIVERY, EXTERNAL_SECRET, NAMESPACE, Kinds
from syncret.config.settings import BoundFolder

TARGET: Final = "spec.target.manifest.kind"
_SETTING: Final = "the setting manifests"


def absolute(folders: Iterable[BoundFolder]) -> tuple[BoundFolder, ...]:
    """The folders by their absolute paths, as `bounds_of` takes them; links are not resolved."""
    return tuple(replace(each, path=os.path.abspath(each.path)) for each in folders)  # noqa: PTH100  # no `..` either


def bounds_of(file: str, folders: Iterable[BoundFolder]) -> BoundFolder | None:
    """The bound folder that a file belongs to by its name; the innermost of several."""
    above = [folder for folder in folders if is_below(file, [folder.path])]
    return max(above, key=lambda folder: len(folder.path), default=None)


def manifest_outside_bounds(
    ref: ObjectRef, document: Document, folder: BoundFolder, kinds: Kinds
) -> Problem | None:
    """Why an object may not be defined in a bound folder, or not do what it asks for; None if it may."""
    found = outside_bounds(ref, folder) or target_outside_bounds(ref, document, folder, kinds)
    if found is None and ref.group_kind == DELIVERY.group_kind:
        from syncret.config.manifests.bound_deliveries import document_outside_bounds  # few have any

        return document_outside_bounds(document, folder)
    return found


def outside_bounds(ref: ObjectRef, folder: BoundFolder) -> Problem | None:
    """Why an object may not be defined in a bound folder; None if it may."""
    if ref.group_kind == DELIVERY.group_kind and DELIVERY.kind not in folder.kinds:
        return Problem(
            path="kind",
            message=f"{folder.path} may not define a {ref.kind}, which writes files of this host",
            hint=f"define it elsewhere; {_SETTING} would have to name the kind, with deliverTo and units",
        )
    if folder.kinds and ref.kind not in folder.kinds:
        return Problem(
            path="kind",
            message=f"{folder.path} may not define a {ref.kind}",
            hint=f"{_SETTING} lets it define {', '.join(folder.kinds)}",
        )
    if not ref.namespace and not folder.kinds:
        return Problem(
            path="kind",
            message=f"{folder.path} may not define a {ref.kind}, which is cluster-scoped",
            hint=f"define it elsewhere; {_SETTING} would have to name the kind",
        )
    is_namespace = ref.group_kind == NAMESPACE.group_kind
    namespace = ref.name if is_namespace else ref.namespace
    if not namespace or any(fnmatchcase(namespace, pattern) for pattern in folder.namespaces):
        return None
    return Problem(
        path="metadata.name" if is_namespace else "metadata.namespace",
        message=f"{namespace} is not a namespace of {folder.path}",
        hint=f"{_SETTING} binds it to {', '.join(folder.namespaces)}",
    )


def target_outside_bounds(
    ref: ObjectRef, document: Document, folder: BoundFolder, kinds: Kinds
) -> Problem | None:
    """Why an ExternalSecret may not write its target: a kind that syncret acts on is held to the same bounds.

    Secrets, ConfigMaps and kinds that syncret does not know only hold values: those it may write.
    """
    if ref.group_kind != EXTERNAL_SECRET.group_kind:
        return None
    target = member(document, "spec", "target", "manifest")
    group = str(target.get("apiVersion")).rpartition("/")[0]
    kind = kinds.find(GroupKind(group, str(target.get("kind"))))
    if kind is None or kind.values == "data":
        return None
    if kind.group_kind == DELIVERY.group_kind:
        return Problem(path=TARGET, message="may not be a Delivery", hint="write it into a manifest")
    # A Namespace is named by the target, so it may be any.
    found = outside_bounds(kind.ref(ref.namespace if kind.namespaced else "", ""), folder)
    return found and Problem(path=TARGET, message=found.message, hint=found.hint)
