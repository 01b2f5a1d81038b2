"""The rows of the state file: all that is known about an object, and never the value of a secret.

Of our own kinds that is the whole object with embedded values (a `fake` store's, a Secret's) taken out; of
all others it is their metadata alone: their content is in the manifest or in the written files, and is put
back from there.
"""

from functools import lru_cache
from sys import intern
from typing import Any, Final, TypeGuard

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_object
from syncret.config.resources.kinds import NAMESPACE, OUR_GROUPS, kind_of, role_of
from syncret.daemon.core.redact import LAST_APPLIED, REDACTED, redacted
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.filesystem.output.drift import Fingerprint

_LARGE: Final = 64 * 1024
"""Bytes beyond which all content of an object with embedded values is put back from its manifest."""

_NOT_CONTENT: Final = frozenset({"apiVersion", "kind", "metadata", "type", "immutable", "status"})
_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_NAMESPACE: Final = NAMESPACE.group_kind
_NOTHING: Final = msgspec.Raw()  # one object: a default is left out by its identity


class AppliedManifest(msgspec.Struct, frozen=True, gc=False):
    """The manifest that an object came from: its file, its digest, and the keys of `data` that it gave."""

    file: str
    digest: str
    keys: tuple[str, ...] = ()


class FileRecord(msgspec.Struct, frozen=True, array_like=True):
    """The signature of a manifest file, and its objects: name, line and digest of each."""

    signature: tuple[int, ...]
    objects: list[tuple[ObjectRef, int, str]]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One row. `content_removed`: a part of the object was taken out and has to be put back.

    `look` is the fingerprint of the files of a written object that match its data-hash. `before` is the
    former version of an object whose files are still to be written.
    """

    document: msgspec.Raw
    applied: AppliedManifest | None = None
    output: bool = False
    content_removed: bool = msgspec.field(default=False, name="hollow")  # its name in state files
    look: Fingerprint | None = None
    before: msgspec.Raw = _NOTHING

    @property
    def version(self) -> int:
        """The resource version of the object."""
        return int(msgspec.json.decode(self.document, type=_Face).metadata.resource_version)


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str
    resource_version: str
    generation: int = 0


class _Face(msgspec.Struct):
    metadata: _Metadata


def is_ours(kind: tuple[str, str]) -> bool:
    """Whether the kind is one of this product's (or Namespace, which is never written to files)."""
    return kind[0] in OUR_GROUPS or kind == _NAMESPACE


@lru_cache
def holds_no_value(kind: tuple[str, str]) -> bool:
    """Whether it is one of our kinds that only refer to values: all of an object may be remembered.

    Ten thousand of them need not be searched for any.
    """
    known = kind_of(kind)
    return known is not None and known.values == "none" and known.role != "core"


def file_ref(file: str) -> ObjectRef:
    """The name of a manifest file's own row: no object is without a kind."""
    return ObjectRef("", "", "", file)


def is_file(ref: ObjectRef) -> bool:
    """Whether a row is that of a manifest file."""
    return not ref.kind


def without_content(document: Document) -> Document:
    """The object without its content."""
    return {key: value for key, value in document.items() if key in _NOT_CONTENT}


def pack(
    stored: StoredObject,
    *,
    applied: AppliedManifest | None,
    output: bool,
    look: Fingerprint | None = None,
    before: StoredObject | None = None,
) -> bytes:
    """The row of one version."""
    data, removed = _emptied(stored, is_given=applied is not None)
    record = Record(
        document=msgspec.Raw(data),
        applied=applied,
        output=output,
        content_removed=removed,
        look=look,
        before=_NOTHING if before is None else msgspec.Raw(_emptied(before, is_given=applied is not None)[0]),
    )
    return msgspec.json.encode(record)


def unpack(row: bytes) -> Record:
    """Raises msgspec.DecodeError for a row that none of us wrote."""
    record = msgspec.json.decode(row, type=Record)
    if record.applied is None:
        return record
    # Thousands of objects come from one file: its name is held once.
    applied = AppliedManifest(
        file=intern(record.applied.file), digest=record.applied.digest, keys=record.applied.keys
    )
    return msgspec.structs.replace(record, applied=applied)


def stored_of(ref: ObjectRef, data: bytes) -> StoredObject:
    """A version from its bytes."""
    metadata = msgspec.json.decode(data, type=_Face).metadata
    return StoredObject(
        ref=ref,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        generation=metadata.generation,
        data=data,
    )


def restore_content(document: Document, whole: Document) -> Document:
    """A remembered object with its content from `whole`; metadata and status are the remembered ones."""
    content: dict[str, Any] = {
        key: value for key, value in whole.items() if key not in ("metadata", "status")
    }
    return {**document, **content}


def _emptied(stored: StoredObject, *, is_given: bool) -> tuple[bytes, bool]:
    """The bytes to remember, and whether content was taken out; `is_given`: a manifest can put it back."""
    kind = stored.ref[:2]
    if holds_no_value(kind):
        return stored.data, False
    if not is_ours(kind) and _is_bare(stored.data):
        return stored.data, False
    if is_given and len(stored.data) > _LARGE:
        return _ENCODER.encode(redacted(_without_content(stored.data))), True
    document = stored.document
    if is_ours(kind):
        emptied = redacted(document)
        if role_of(kind) == "store" and "spec" in emptied:
            emptied = {**emptied, "spec": _without_values(emptied["spec"])}
    else:
        emptied = _without_last_applied(without_content(document))
    if emptied == document:
        return stored.data, False
    return _ENCODER.encode(emptied), True


def _without_content(data: bytes) -> Document:
    """As `without_content`, from the encoded object, whose content is not decoded."""
    members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    return {name: msgspec.json.decode(raw) for name, raw in members.items() if name in _NOT_CONTENT}


def _is_bare(data: bytes) -> bool:
    """Whether there is no content to take out; only the names of the members are decoded for that."""
    members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    return members.keys() <= _NOT_CONTENT and LAST_APPLIED.encode() not in data


def _without_values(spec: Json) -> Json:
    """A store's spec without credentials written into it: where one is either a reference or a `value`."""
    if is_object(spec):
        return {
            key: REDACTED if key == "value" and isinstance(inner, str) else _without_values(inner)
            for key, inner in spec.items()
        }
    return [_without_values(inner) for inner in spec] if _is_list(spec) else spec


def _is_list(value: object) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def _without_last_applied(document: Document) -> Document:
    annotations = document["metadata"].get("annotations", {})
    if LAST_APPLIED not in annotations:
        return document
    kept = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {**document, "metadata": {**document["metadata"], "annotations": kept}}
