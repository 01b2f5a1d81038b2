"""Entries of a key-value engine: the path of a remote key, and the values and properties of a response.

A store may name the mount (`path`) or leave it to its keys, and keys may be written with or without the mount
and with or without the `data/` of version 2. All of these mean the same entry. Values are formatted as by Go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.values import SecretBytes, SecretMap
from syncret.providers.work import Work


@dataclass(frozen=True, slots=True)
class Payload:
    """The members of one entry, numbers as in the response."""

    data: Mapping[str, Json] = field(repr=False)

    def document(self, work: Work) -> bytes:
        """The entry as one JSON object."""
        return gojson.marshal(dict(self.data), work).encode()


def value(payload: Payload, name: str, work: Work, *, paths: bool = True) -> SecretBytes:
    """The whole entry as JSON; or the member of this name; or, with `paths`, the value at a path.

    Raises Malformed for a property that does not exist: a mistake, not a deleted entry.
    """
    if not name:
        return SecretBytes(payload.document(work))
    if name in payload.data:
        return SecretBytes(gojson.byte_value(payload.data[name], work))
    found = extract.value(payload.document(work), name, work) if paths else None
    if found is None:
        raise extract.missing_property(f'cannot find secret data for key: "{name}"')
    return SecretBytes(found)


def fields(document: SecretBytes, work: Work) -> SecretMap:
    """A JSON object as a map of values. As in ESO, numbers are converted to floats."""
    try:
        members = gojson.unmarshal_object(document.raw, work)
    except Malformed as error:
        raise Malformed(
            f"unable to unmarshal secret: {error.message}", hint="extract takes a value that is a JSON object"
        ) from None
    return {key: SecretBytes(gojson.byte_value(member, work)) for key, member in members.items()}


Version: TypeAlias = Literal["v1", "v2"]

_DATA: Final = "/data/"


class Place(NamedTuple):
    """An entry: the mount of its engine (empty: the path begins with it), and its path there."""

    mount: str
    path: str


@dataclass(frozen=True, slots=True)
class Engine:
    """A key-value engine of one version; `mount` is empty where keys begin with it.

    With `literal`, a key that starts with the mount is not shortened.
    """

    mount: str
    version: Version
    literal: bool = False

    @property
    def versioned(self) -> bool:
        """Whether entries have versions and metadata."""
        return self.version == "v2"

    def place(self, key: str) -> Place:
        """The entry of a remote key."""
        if self.mount and self.literal:
            return Place(self.mount, key)
        if self.mount:
            inside = key.removeprefix(f"{self.mount}/")
            if inside != key and self.versioned:
                inside = inside.removeprefix("data/")
            return Place(self.mount, inside)
        if not self.versioned:
            return Place("", key)
        mount, data, path = key.partition(_DATA)
        if not data:
            mount, _, path = key.partition("/")
        return Place(mount, path)

    def value_path(self, key: str) -> str:
        """The path of its value."""
        place = self.place(key)
        return joined(place.mount, "data" if self.versioned else "", place.path)

    def metadata_path(self, key: str) -> str:
        """The path of its metadata; in version 1 that of the entry itself."""
        place = self.place(key)
        return joined(place.mount, "metadata" if self.versioned else "", place.path)


def joined(*parts: str) -> str:
    """Parts of a path, joined and quoted. Empty segments are dropped, as in Vault's own client.

    Raises Malformed for `.` and `..`, with which a key could leave its engine.
    """
    segments = [segment for part in parts for segment in part.split("/") if segment]
    if {".", ".."} & set(segments):
        raise Malformed("a Vault path cannot hold the segments '.' and '..'", hint="write the full path")
    return "/".join(quote(segment, safe="") for segment in segments)
