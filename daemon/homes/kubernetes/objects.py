"""Objects of the API server as the home keeps them: without `managedFields` and without values of Secrets."""

from base64 import b64decode
from binascii import Error as NotBase64
from typing import Final

import msgspec
from msgspec import Struct

from syncret.config.meta import Document, ObjectRef, member, shared
from syncret.config.resources import kinds as table
from syncret.daemon.core.ownership import MANAGED
from syncret.daemon.core.secret import is_intact
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.resources import Resource

SECRET: Final = table.SECRET.group_kind

METADATA_ALONE: Final = frozenset(kind.group_kind for kind in table.KINDS if kind.role == "core")
"""Kinds of which the home keeps only the metadata: their content is read when it is used."""


_SLIM: Final = frozenset(
    ("name", "namespace", "uid", "resourceVersion", "labels", "deletionTimestamp", "finalizers")
)
"""The metadata that is kept of others' objects, of which there may be a hundred thousand."""


class Metadata(Struct, frozen=True, rename="camel"):
    """The metadata that identifies a version of an object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0


class Head(Struct, frozen=True):
    """An object of which nothing but its identity matters."""

    metadata: Metadata


def stored_of(resource: Resource, document: Document, *, whole: bool = False) -> StoredObject:
    """The object as the home keeps it, or with `whole` as the server has it. The document is used up."""
    metadata = document["metadata"]
    group_kind = resource.group_kind
    keeps_all = whole and group_kind.group not in table.OUR_GROUPS
    if not keeps_all:
        metadata.pop("managedFields", None)
    if not whole and group_kind in METADATA_ALONE:
        if member(document, "metadata", "labels").get(MANAGED) != "true":
            metadata = {name: value for name, value in metadata.items() if name in _SLIM}
        document = {"metadata": metadata}
    document = {**document, "apiVersion": resource.api_version, "kind": resource.kind}
    return StoredObject(
        ref=ref_of(resource, metadata.get("namespace") or "", metadata["name"]),
        uid=metadata.get("uid") or "",
        resource_version=metadata.get("resourceVersion") or "",
        generation=metadata.get("generation") or 0,
        data=msgspec.json.encode(document),
    )


def ref_of(resource: Resource, namespace: str, name: str) -> ObjectRef:
    """The reference of an object of that resource."""
    return shared(resource.group, resource.kind, namespace, name)


def gone(ref: ObjectRef, uid: str, version: str) -> StoredObject:
    """The last version of an object that is gone."""
    return StoredObject(ref=ref, uid=uid, resource_version=version, data=b"{}")


def is_as_written(secret: Document) -> bool:
    """Whether a Secret, with its data, is marked as managed, and its data is what its data-hash names."""
    try:
        values = {key: b64decode(value) for key, value in member(secret, "data").items()}
    except (NotBase64, TypeError, ValueError):
        return False
    return is_intact(secret, values)
