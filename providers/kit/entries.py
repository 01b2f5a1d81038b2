"""Secrets that consist of entries, each a text or bytes under a key of its own."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from syncret.config.fields import Json
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import json as gojson
from syncret.providers.values import RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one secret: texts, and bytes where the manager holds or returns them as such."""

    by_key: Mapping[str, str | bytes] = field(repr=False)

    def document(self, work: Work) -> SecretBytes:
        """All of them as a JSON object, in which bytes are base64."""
        members: dict[str, Json] = {
            key: value if isinstance(value, str) else b64encode(value).decode()
            for key, value in self.by_key.items()
        }
        return SecretBytes(gojson.marshal(members, work).encode())


class EntryValues:
    """`value` and `fields` of a Reader whose payloads are Entries."""

    def value(self, payload: Entries, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """One entry, or all as a JSON object; None if there is no such entry."""
        if not ref.property:
            return payload.document(work)
        found = payload.by_key.get(ref.property)
        return None if found is None else _bytes(found)

    def fields(self, payload: Entries, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The entries as they are."""
        del ref, work
        return {key: _bytes(value) for key, value in payload.by_key.items()}


class FieldValues(EntryValues):
    """The same for a manager whose entries always have fields, of which one is the value by default."""

    default_field: ClassVar[str]

    def value(self, payload: Entries, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """One field. Raises Malformed if there is none of that name."""
        name = ref.property or self.default_field
        found = super().value(payload, ref._replace(property=name), work)
        if found is None:
            raise missing_property(f"entry {ref.key} has no field {name!r}")
        return found


def _bytes(value: str | bytes) -> SecretBytes:
    return SecretBytes(value if isinstance(value, bytes) else value.encode())
