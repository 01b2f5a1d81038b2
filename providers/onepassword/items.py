"""An item: fields with labels, and files with names. A property is the one or the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes

PASSWORD: Final = "password"
"""The label of a field that is read or pushed without a property."""

_DOCUMENT: Final = "DOCUMENT"
_FIELD, _FILE = "field/", "file/"


class Field(msgspec.Struct):
    """A field as the API has it."""

    id: str = ""
    label: str = ""
    value: str = ""


class File(msgspec.Struct):
    """A file as the API has it; its content is read apart."""

    id: str
    name: str = ""


class InVault(msgspec.Struct):
    """The vault of an item."""

    id: str


class Summary(msgspec.Struct):
    """An item as lists have it: without fields."""

    id: str
    vault: InVault
    title: str = ""
    tags: list[str] | None = None


class Item(Summary):
    """A whole item."""

    category: str = ""
    version: int = 0
    fields: list[Field] | None = None
    files: list[File] | None = None


class Property(NamedTuple):
    """A property: a file, or a field; empty if it names none."""

    is_file: bool
    name: str


@dataclass(frozen=True, slots=True)
class Found:
    """An item that was read, with the files that were asked for."""

    item: Item
    raw: Mapping[str, Any] = field(repr=False)
    """The item as the server sent it, to be sent back with changes."""
    files: Mapping[str, SecretBytes] = field(default_factory=dict[str, SecretBytes], repr=False)

    def __repr__(self) -> str:
        return f"<Found {self.item.title}>"


def property_of(category: str, text: str) -> Property:
    """`file/NAME`, `field/LABEL`, or a name alone: in a document that is a file, otherwise a field."""
    if text.startswith(_FIELD):
        return Property(is_file=False, name=text.removeprefix(_FIELD))
    if text.startswith(_FILE):
        return Property(is_file=True, name=text.removeprefix(_FILE))
    return Property(is_file=category == _DOCUMENT, name=text)


def wanted_files(item: Item, text: str, *, every: bool = False) -> Sequence[File]:
    """The files to read for a property, or for a search."""
    asked = property_of(item.category, text)
    files = item.files or []
    if every:
        return files
    return [each for each in files if asked.is_file and asked.name in {"", each.name}]


def fields_by_label(item: Item) -> dict[str, SecretBytes]:
    """The values of all fields. Raises Malformed if two have one label."""
    found: dict[str, SecretBytes] = {}
    for each in item.fields or []:
        if each.label in found:
            raise several(each.label, item)
        found[each.label] = SecretBytes(each.value.encode())
    return found


def labelled(item: Item, label: str) -> Field | None:
    """The field with a label. Raises Malformed if several have it."""
    same = [field for field in item.fields or [] if field.label == label]
    if len(same) > 1:
        raise several(label, item)
    return same[0] if same else None


def several(label: str, item: Summary) -> Malformed:
    """The error for a label that does not say which field is meant."""
    return Malformed(
        f"expected one field labelled {label!r} in item {item.title!r}, found several",
        hint="give the fields labels of their own in 1Password",
    )
