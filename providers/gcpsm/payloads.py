"""The values of a fetched entry: its payload, or its labels and annotations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.values import RemoteRef, SecretBytes
from syncret.providers.work import Work

_NOUNS = {"annotations": "annotation", "labels": "label"}


@dataclass(frozen=True, slots=True)
class SecretMetadata:
    """Labels and annotations of a secret; null if Google omits them as empty."""

    annotations: Mapping[str, str] | None
    labels: Mapping[str, str] | None

    def value(self, ref: RemoteRef, work: Work) -> SecretBytes:
        """Both as JSON, one of the two, or one entry of it (`labels.team`)."""
        parts = {"annotations": self.annotations, "labels": self.labels}
        if not ref.property:
            return _json({name: None if part is None else dict(part) for name, part in parts.items()}, work)
        name, dot, key = ref.property.partition(".")
        if name not in parts or (dot and not key):
            raise Malformed(
                f"invalid property {ref.property}: metadata property should start with either annotations or "
                "labels",
                hint="write labels, labels.<key>, annotations or annotations.<key>",
            )
        found = parts[name]
        if not dot:
            return _json(None if found is None else dict(found), work)
        if found is None or key not in found:
            raise Malformed(
                f"{_NOUNS[name]} with key {key} does not exist in secret {ref.key}",
                hint=f"correct remoteRef.property; {name} alone means all of them",
            )
        return SecretBytes(found[key].encode())


Payload: TypeAlias = SecretBytes | SecretMetadata


def value_of(payload: Payload, ref: RemoteRef, work: Work) -> SecretBytes:
    """The value, or a property of it. Raises Malformed if there is no such property."""
    if isinstance(payload, SecretMetadata):
        return payload.value(ref, work)
    if not ref.property:
        return payload
    found = property_of(payload.raw, ref.property, work)
    if found is None:
        raise extract.missing_property(f"key {ref.property} does not exist in secret {ref.key}")
    return SecretBytes(found)


def property_of(document: bytes, path: str, work: Work) -> bytes | None:
    """A property: the member of that whole name, or else a path. Raises Malformed if the value is no JSON."""
    problem = ""
    try:
        gojson.unmarshal(document, work, keep_numbers=True)
    except Malformed as error:
        problem = error.message
    if problem:
        raise Malformed(
            f"unable to unmarshal secret from JSON: {problem}", hint="a property needs a JSON value"
        )
    return extract.member_or_path(document, path, work)


def _json(value: object, work: Work) -> SecretBytes:
    return SecretBytes(gojson.marshal(value, work).encode())
