"""Builds targets of other kinds than Secret: data goes to `data` of a ConfigMap, `spec.data` of others."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_object, member
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import kind_named
from syncret.daemon.core import rendering as object_paths
from syncret.daemon.core.digest import value_hash
from syncret.daemon.core.ownership import DATA_HASH, MANAGED, claim
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.secret import KEEPS_FOREIGN_KEYS, target_name
from syncret.providers.errors import Malformed

_IDENTITY: Final = ("name", "namespace", "uid", "resourceVersion", "ownerReferences")


def manifest_ref(resource: ExternalSecret) -> ObjectRef:
    """The reference of the target, which is in the namespace of the ExternalSecret."""
    kind = resource.spec.target.manifest
    if kind is None:
        raise Malformed("spec.target.manifest names no kind")
    group = kind.api_version.rpartition("/")[0]
    return ObjectRef(group, kind.kind, resource.metadata.namespace, target_name(resource))


def is_valid(resource: ExternalSecret, observed: Document | None) -> bool:
    """Whether the object is still as it was written."""
    if resource.spec.target.creation_policy == "Orphan":
        return True
    if observed is None:
        return False
    if member(observed, "metadata", "labels").get(MANAGED) != "true":
        return False
    if _content(observed) is None:
        return False
    return member(observed, "metadata", "annotations").get(DATA_HASH) == _content_hash(observed)


def desired_manifest(
    resource: ExternalSecret,
    observed: Document | None,
    data: Mapping[str, bytes],
    rendering: Rendering | None = None,
) -> Document:
    """The complete object to write: merged into the existing one by the merge policies, otherwise new."""
    merging = resource.spec.target.creation_policy in KEEPS_FOREIGN_KEYS
    target = deepcopy(observed) if observed is not None and merging else _blank(resource, observed)
    metadata = target["metadata"]
    template = resource.spec.target.template
    given = resource.metadata if template is None else template.metadata
    metadata["labels"] = {**member(target, "metadata", "labels"), **given.labels, MANAGED: "true"}
    metadata["annotations"] = {**member(target, "metadata", "annotations"), **given.annotations}
    if template is None:
        _put_data(target, data)
    elif rendering is not None:
        identity = _identity(target)
        rendering.apply(template, ManifestSink(target), data, metadata=False)
        _check_written(target, identity)
    target["metadata"]["annotations"][DATA_HASH] = _content_hash(target)
    claim(target, resource.metadata, own=resource.spec.target.creation_policy == "Owner")
    return target


class ManifestSink:
    """Puts rendered values into an object of any kind: as text, or at a path as YAML."""

    def __init__(self, target: Document) -> None:
        self._target = target

    def put(self, target: str, key: str, value: bytes) -> None:
        """Set one rendered value."""
        place: Json = self._target["metadata"] if target in ("labels", "annotations") else self._target
        members = place.setdefault(target, {}) if is_object(place) else None
        if not is_object(members):
            raise Malformed(f"{target} of the target is not an object, so it takes no keys")
        members[key] = _text(key, value)

    def put_at(self, path: str, make: Callable[[Json], Json]) -> None:
        """Change the value at a path."""
        object_paths.put_at_path(self._target, path, make)


def _identity(target: Document) -> tuple[Json, ...]:
    """The fields that identify the object and its owners."""
    return (target["apiVersion"], target["kind"], *(target["metadata"].get(field) for field in _IDENTITY))


def _check_written(target: Document, identity: tuple[Json, ...]) -> None:
    """Refuse a template that changed the identity, the kind or the owners of the object by a path."""
    if not is_object(target["metadata"]) or _identity(target) != identity:
        raise Malformed(
            "the template changes which object the target is, or whose",
            hint="let templateFrom write to its data, labels, annotations, or below spec",
        )
    for field in ("labels", "annotations"):
        if not is_object(target["metadata"].get(field)):
            raise Malformed(
                f"metadata.{field} of the target is not an object", hint=f"render a map for metadata.{field}"
            )


def _put_data(target: Document, data: Mapping[str, bytes]) -> None:
    text = {key: _text(key, value) for key, value in sorted(data.items())}
    if target["kind"] == "ConfigMap":
        target["data"] = text
    else:
        target["spec"] = {**member(target, "spec"), "data": text}


def _blank(resource: ExternalSecret, observed: Document | None) -> Document:
    ref, kind = manifest_ref(resource), resource.spec.target.manifest
    metadata: dict[str, Any] = {"name": ref.name, "namespace": ref.namespace}
    if observed is not None:
        metadata |= {
            key: observed["metadata"][key]
            for key in ("uid", "resourceVersion")
            if key in observed["metadata"]
        }
    known = kind_named(ref.kind)
    content = "data" if known is not None and known.values == "data" else "spec"
    api_version = kind.api_version if kind else ""
    return {"apiVersion": api_version, "kind": ref.kind, "metadata": metadata, content: {}}


def _content(target: Document) -> Json:
    return target["spec"] if target.get("spec") is not None else target.get("data")


def _content_hash(target: Document) -> str:
    content = _content(target)
    if content is None:
        raise Malformed("the target has neither spec nor data", hint="let the template write to one of them")
    return value_hash(content)


def _text(key: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Malformed(f"the value of key {key!r} is binary and does not fit this kind of target") from None
