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
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class Metadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The metadata of an object, the same for every kind."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    labels: NullIsEmpty[dict[str, str]] = {}
    annotations: NullIsEmpty[dict[str, str]] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
