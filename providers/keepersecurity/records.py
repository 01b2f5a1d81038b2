"""A record: fields of usual kinds, custom fields with labels, and files. A property is one of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from syncret.providers.errors import Malformed
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import json as gojson
from syncret.providers.values import SecretBytes, SecretMap
from syncret.providers.work import Work

OURS: Final = "externalSecrets"
"""The type of the records that are made by pushes; those of other types are not changed."""

_NO_VALUES: Final = {"fileRef", "oneTimeCode"}
"""Fields that are no property: files have names of their own, and a code is made from its seed."""


class Field(msgspec.Struct):
    """A field; what it holds is a list, mostly with one text."""

    type: str | None = ""
    label: str | None = None
    value: list[Any] | None = None

    @property
    def name(self) -> str:
        """A usual field is called by its type, unless it has a label."""
        return self.label or self.type or ""


class Data(msgspec.Struct):
    """The encrypted part of a record."""

    title: str | None = ""
    type: str | None = ""
    fields: list[Field] | None = None
    custom: list[Field] | None = None


class File(msgspec.Struct, frozen=True):
    """A file of a record; its content is somewhere else, and encrypted, too."""

    title: str
    url: str
    key: bytes
    """Empty if neither the file nor its title can be decrypted."""

    def __repr__(self) -> str:
        return f"<File {self.title}>"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A record, decrypted, with the contents of those files that were read."""

    uid: str
    key: bytes
    data: Data
    raw: Mapping[str, Any]
    """All of the data, to be sent back with changes."""
    revision: int = 0
    is_editable: bool = True
    files: Sequence[File] = ()
    contents: Sequence[tuple[str, SecretBytes]] = ()
    """Files by title; several may have the same one."""

    def __repr__(self) -> str:
        return f"<Record {self.uid}>"

    @property
    def title(self) -> str:
        """The title that users see."""
        return self.data.title or ""

    @property
    def is_ours(self) -> bool:
        """Whether a push may change it."""
        return self.data.type == OURS


def files_for(record: Record, name: str) -> Sequence[File]:
    """The files that must be read for a property; for the whole record all of them.

    If neither a field nor a file is called so, it may be one whose title cannot be decrypted.
    """
    if not name:
        return record.files
    if _fields_named(record, name):
        return []
    named = [file for file in record.files if file.title == name]
    return named or [file for file in record.files if not file.key]


def value_of(record: Record, name: str, work: Work) -> SecretBytes:
    """A field or a file by its name. Raises Malformed if there is none, or are several."""
    same = [_value(each, work) for each in _fields_named(record, name)]
    same = same or [content for title, content in record.contents if title == name]
    if len(same) > 1:
        raise several(name, record)
    if not same:
        raise missing_property(f"there is no field or file {name!r} in record {record.uid}")
    return same[0]


def values_of(record: Record, work: Work) -> SecretMap:
    """All fields and files by their names. Raises Malformed if two have one name, or if there is none."""
    found: dict[str, SecretBytes] = {}
    for name, value in _named_values(record, work):
        if name in found:
            raise several(name, record)
        found[name] = value
    if not found:
        raise Malformed(f"record {record.uid} has neither fields nor files", hint="give it some")
    return found


def whole(record: Record, work: Work) -> SecretBytes:
    """All of a record as the operator writes it."""
    data = record.data
    parts = {
        "title": gojson.quote(record.title, work),
        "type": gojson.quote(data.type or "", work),
        "fields": _array(None if data.fields is None else [_usual(each, work) for each in data.fields], work),
        "custom": _array(
            None if data.custom is None else [_custom(each, work) for each in data.custom], work
        ),
        "files": _array([_file(*each, work) for each in record.contents] or None, work),
    }
    return SecretBytes(_joined(parts, work).encode())


def several(name: str, record: Record) -> Malformed:
    """The error for a name that does not say what is meant."""
    return Malformed(
        f"there are several fields or files {name!r} in record {record.uid}",
        hint="give them labels or titles of their own in Keeper",
    )


def _fields_named(record: Record, name: str) -> list[Field]:
    usual = [
        each
        for each in record.data.fields or ()
        if each.name == name and each.value and each.type not in _NO_VALUES
    ]
    return usual or [each for each in record.data.custom or () if each.label == name and each.value]


def _named_values(record: Record, work: Work) -> Iterator[tuple[str, SecretBytes]]:
    for each in record.data.fields or ():
        if each.value:
            yield each.name, _value(each, work)
    for each in record.data.custom or ():
        if each.value:
            yield each.label or "", _value(each, work)
    yield from record.contents


def _value(given: Field, work: Work) -> SecretBytes:
    """One text as it is; anything else as JSON."""
    values = given.value or []
    only = values[0] if len(values) == 1 else values
    text = only if isinstance(only, str) else gojson.marshal(only, work)
    return SecretBytes(text.encode("utf-8", "surrogateescape"))


def _usual(given: Field, work: Work) -> str:
    label = {"label": given.label} if given.label else {}
    return _object({"type": given.type or "", **label}, given.value, work)


def _custom(given: Field, work: Work) -> str:
    return _object({"type": given.type or "", "label": given.label or ""}, given.value, work)


def _file(title: str, content: SecretBytes, work: Work) -> str:
    return _joined(
        {"type": gojson.quote(title, work), "content": gojson.quote(gojson.text(content.raw), work)}, work
    )


def _array(members: Sequence[str] | None, work: Work) -> str:
    return "null" if members is None else f"[{gojson.joined(members, work)}]"


def _object(texts: Mapping[str, str], value: list[Any] | None, work: Work) -> str:
    quoted = {name: gojson.quote(text, work) for name, text in texts.items()}
    return _joined({**quoted, "value": gojson.marshal(value, work)}, work)


def _joined(parts: Mapping[str, str], work: Work) -> str:
    members = [f'"{name}":{text}' for name, text in parts.items()]
    return f"{{{gojson.joined(members, work)}}}"
