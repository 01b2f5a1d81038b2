"""Object references, owner references and metadata, as Kubernetes defines them."""

from functools import lru_cache
from sys import intern
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeGuard, TypeVar

import msgspec

Document: TypeAlias = dict[str, Any]
"""One object as plain JSON; a model gives it types."""

T = TypeVar("T")

NullIsEmpty = Annotated[T, msgspec.Meta(extra={"null_is_empty": True})]
"""A map of one of Kubernetes' own types: a key whose value is null is present, with an empty value."""


def is_object(value: object) -> TypeGuard[Document]:
    """Whether a JSON value is an object."""
    return type(value) is dict


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is a list."""
    return type(value) is list


def member(document: Document, *fields: str) -> Document:
    """The object at a path of fields; an empty one if there is none."""
    for field in fields:
        value: Any = document.get(field)
        if value.__class__ is not dict:
            return {}
        document = value
    return document


class GroupKind(NamedTuple):
    """API group (empty for core) and kind; the version is no part of an object's identity."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class ObjectRef(NamedTuple):
    """Identifies one object; only refs are queued. An empty namespace means cluster-scoped."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def group_kind(self) -> GroupKind:
        return _group_kind(self[:2])

    def __str__(self) -> str:
        return "/".join(filter(None, self[1:]))


@lru_cache(maxsize=1024)
def _group_kind(names: tuple[str, str]) -> GroupKind:
    """Cached: needed dozens of times a run, and a lookup takes a third of the time of a construction."""
    return GroupKind(*names)


def ref_of(document: Document) -> ObjectRef:
    """The reference of a document that carries apiVersion, kind and metadata.name."""
    group, _, _ = str(document["apiVersion"]).rpartition("/")
    metadata = document["metadata"]
    return shared(group, document["kind"], metadata.get("namespace") or "", metadata["name"])


def shared(group: str, kind: str, namespace: str, name: str) -> ObjectRef:
    """A reference with interned strings, so that equal strings are held once in memory."""
    return ObjectRef(intern(group), intern(kind), intern(namespace), intern(name))


class OwnerReference(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An owner of an object; the one with `controller` manages it."""

    api_version: str
    """Group and version of the owner. Example: external-secrets.io/v1"""
    kind: str
    """Kind of the owner. Example: ExternalSecret"""
    name: str
    """Name of the owner, which is in the same namespace or cluster-scoped. Example: database"""
    uid: str
    """Identifier of the owner; a reference with that of an earlier object of the same name counts for
    nothing.
    Example: 6a7c1c5e-0f43-4b5f-9d1b-2f0f3a3c9f10"""
    controller: bool = False
    """Whether this owner manages the object; at most one may."""
    block_owner_deletion: bool = False
    """Whether the owner stays until this object is gone, if it is deleted in the foreground."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Name, namespace, labels and annotations of the object, and what the API server adds to them.

    Example: {name: database, namespace: shop}
    """

    name: str = ""
    """Name of the object, unique among those of its kind in the namespace. Example: database"""
    namespace: str = ""
    """Namespace of the object; without one, a namespaced object belongs to `default`. Example: shop"""
    uid: str = ""
    """Identifier that no other object has or will have; set when the object is created, and ignored in a
    manifest.
    Example: 6a7c1c5e-0f43-4b5f-9d1b-2f0f3a3c9f10"""
    resource_version: str = ""
    """Number that grows with every write; ignored in a manifest. Example: '4711'"""
    generation: int = 0
    """Number of changes of the spec; ignored in a manifest. Example: 3"""
    creation_timestamp: str = ""
    """When the object was created; ignored in a manifest. Example: '2026-01-01T00:00:00Z'"""
    deletion_timestamp: str = ""
    """Since when the object is being deleted, which waits for its finalizers; ignored in a manifest.
    Example: '2026-01-01T00:00:00Z'"""
    labels: NullIsEmpty[dict[str, str]] = {}
    """Labels, by which others select the object; those of an ExternalSecret are copied to its target.
    Example: {team: payments}"""
    annotations: NullIsEmpty[dict[str, str]] = {}
    """Notes for people and programs; a change of one refreshes an ExternalSecret or PushSecret.
    Example: {syncret.dev/burst: '20'}"""
    finalizers: tuple[str, ...] = ()
    """Names of controllers that must clean up before the object is deleted; it stays until the last name is
    removed.
    Example: [secretstore.externalsecrets.io/finalizer]"""
    owner_references: tuple[OwnerReference, ...] = ()
    """The objects that this one belongs to: it is deleted with the last of them."""
