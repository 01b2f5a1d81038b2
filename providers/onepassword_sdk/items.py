"""An item: fields with titles, and files with names. A property is the one or the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from syncret.providers.errors import Malformed
from syncret.providers.kit.extract import missing_property
from syncret.providers.values import SecretBytes, SecretMap

if TYPE_CHECKING:  # an extra
    from onepassword import FileAttributes, Item

PASSWORD: Final = "password"
"""The title of a field that is read or pushed without a property."""

_FIELD, _FILE = "field/", "file/"


class Summary(NamedTuple):
    """An item as lists have it."""

    id: str
    title: str
    tags: Sequence[str]


class Property(NamedTuple):
    """A file, or a field; empty if it names none."""

    is_file: bool
    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An item that was read, with those of its files that were."""

    id: str
    title: str
    is_document: bool
    fields: Sequence[tuple[str, SecretBytes]] = field(repr=False)
    """Values by title; several may have one."""
    tags: Sequence[str]
    file_attributes: "Sequence[tuple[str, FileAttributes]]" = field(repr=False)
    item: "Item" = field(repr=False)
    """As the SDK returned it, to be sent back with changes."""
    contents: Sequence[tuple[str, SecretBytes]] = field(default=(), repr=False)

    def with_contents(self, contents: Sequence[tuple[str, SecretBytes]]) -> "Entry":
        """The item with contents of files."""
        return replace(self, contents=contents)

    def named_values(self) -> Iterator[tuple[str, SecretBytes]]:
        """All fields, and the files that were read."""
        yield from self.fields
        yield from self.contents


def of_sdk(item: "Item") -> Entry:
    """An item of the SDK's."""
    files = [(each.attributes.name, each.attributes) for each in item.files]
    if item.document is not None:
        files.append((item.document.name, item.document))
    return Entry(
        id=item.id,
        title=item.title,
        is_document=item.category.value == "Document",
        fields=[(each.title, SecretBytes(each.value.encode())) for each in item.fields],
        tags=tuple(item.tags),
        file_attributes=files,
        item=item,
    )


def property_of(text: str, *, is_document: bool = False) -> Property:
    """`file/NAME`, `field/TITLE`, or a name alone: in a document that is a file, otherwise a field."""
    if text.startswith(_FIELD):
        return Property(is_file=False, name=text.removeprefix(_FIELD))
    if text.startswith(_FILE):
        return Property(is_file=True, name=text.removeprefix(_FILE))
    return Property(is_file=is_document, name=text)


def value_of(entry: Entry, text: str) -> SecretBytes:
    """One field, by default the password; one file, by default the first one. Raises Malformed."""
    asked = property_of(text, is_document=entry.is_document)
    name = asked.name or ("" if asked.is_file else PASSWORD)
    held = entry.contents if asked.is_file else entry.fields
    same = [value for each, value in held if name in {"", each}]
    if not same:
        raise missing_property(
            f"there is no {'file' if asked.is_file else 'field'} {name!r} in item {entry.title!r}"
        )
    if len(same) > 1 and name:
        raise several(name, entry.title)
    return same[0]


def values_of(entry: Entry, text: str) -> SecretMap:
    """All fields, or all files of a document; with a property only that one. Raises Malformed."""
    asked = property_of(text, is_document=entry.is_document)
    if asked.name:
        return {asked.name: value_of(entry, text)}
    return unique(entry.contents if asked.is_file else entry.fields, entry.title)


def unique(named: Sequence[tuple[str, SecretBytes]], title: str) -> Mapping[str, SecretBytes]:
    """Values by name. Raises Malformed if two have one name."""
    found: dict[str, SecretBytes] = {}
    for name, value in named:
        if name in found:
            raise several(name, title)
        found[name] = value
    return found


def several(name: str, title: str) -> Malformed:
    """The error for a name that does not say which field is meant."""
    return Malformed(
        f"there are several fields or files {name!r} in item {title!r}",
        hint="give them titles of their own in 1Password, or write item/section/field",
    )
