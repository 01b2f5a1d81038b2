"""The values of a secret: its type determines which fields they come from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple, cast

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.ibm.refs import ARBITRARY, TYPES, Place, place_of
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang.fmt import printed
from syncret.providers.values import RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one secret in a response."""

    by_name: Mapping[str, Json] = field(repr=False)


class _Shape(NamedTuple):
    """How a type is read: `value` is the field of the value, `members` the keys of a map and their fields."""

    value: str = ""
    members: Mapping[str, str] = {}
    optional: tuple[str, ...] = ()
    """Fields that default to empty, so that a TLS Secret has all its keys."""


_CERTIFICATE: Final = {"certificate": "certificate", "private_key": "private_key"}
_CHAIN: Final = {"certificate": "certificate", "intermediate": "intermediate", "private_key": "private_key"}
_SHAPES: Final[Mapping[str, _Shape]] = {
    ARBITRARY: _Shape("payload", {ARBITRARY: "payload"}),
    "username_password": _Shape(members={"username": "username", "password": "password"}),
    "iam_credentials": _Shape("api_key", {"apikey": "api_key"}),
    "service_credentials": _Shape("credentials", {"credentials": "credentials"}),
    "imported_cert": _Shape(members=_CHAIN, optional=("intermediate", "private_key")),
    "public_cert": _Shape(members=_CHAIN),
    "private_cert": _Shape(members=_CERTIFICATE),
}
_DOCUMENTS: Final[Mapping[str, str]] = {"kv": "data", "custom_credentials": "credentials_content"}
"""Types whose value is a JSON object, and its field."""

_AUTHOR_DEFINED: Final = {*_DOCUMENTS.values(), "credentials", "custom_metadata", "parameters"}
"""Fields with members that the author of the secret defines."""

_VALUE_COST: Final = 10


def value_of(payload: Fields, ref: RemoteRef, work: Work) -> SecretBytes:
    """The value, or a field of it. Raises Malformed if there is none."""
    place = place_of(ref.key)
    if place.type in _DOCUMENTS:
        return _document(payload, place, ref, work)
    shape, fields = _SHAPES[place.type], _present(payload, work)
    if not shape.value and not ref.property:
        raise Malformed(
            f"remoteRef.property required for secret type {place.type}",
            hint=f"write {', '.join(shape.members.values())}, or use dataFrom.extract",
        )
    name, secret = (shape.value, place.name) if shape.value else (ref.property, ref.key)
    if name not in fields:
        if name in shape.optional:
            return SecretBytes(b"")
        raise _missing_field(name, secret, payload, place)
    found = fields[name]
    if isinstance(found, str):
        return SecretBytes(found.encode())
    if name == shape.value and isinstance(found, dict):
        return SecretBytes(gojson.marshal(found, work).encode())
    raise Malformed(
        f"key {name} of secret {secret} is no text", hint="use dataFrom.extract with metadataPolicy"
    )


def fields_of(payload: Fields, ref: RemoteRef, work: Work) -> SecretMap:
    """The value by fields; with `metadata`, all other fields too."""
    place = place_of(ref.key)
    present = _present(payload, work)
    fields = {name: SecretBytes(printed(value, work).encode()) for name, value in present.items()}
    result = dict(fields) if ref.metadata else {}
    if place.type in _DOCUMENTS:
        result.update(_members(_document(payload, place, ref, work), work))
        return result
    shape = _SHAPES[place.type]
    for name, source in shape.members.items():
        if source not in fields and source not in shape.optional:
            raise _missing_field(source, place.name, payload, place)
        result[name] = fields.get(source, SecretBytes(b""))
    return result


def _document(payload: Fields, place: Place, ref: RemoteRef, work: Work) -> SecretBytes:
    """The JSON object that is the value, or a property of it."""
    found = payload.by_name.get(_DOCUMENTS[place.type])
    if payload.by_name.get("secret_type") != place.type or not isinstance(found, dict):
        raise Malformed(
            f"unable to extract the fetched secret {place.name} of type {place.type}",
            hint=_other_type(payload, place),
        )
    document = gojson.marshal(found, work).encode()
    if not ref.property:
        return SecretBytes(document)
    member = extract.member_or_path(document, ref.property, work)
    if member is None:
        raise extract.missing_property(f"key {ref.property} does not exist in secret {ref.key}")
    return SecretBytes(member)


def _members(document: SecretBytes, work: Work) -> Iterator[tuple[str, SecretBytes]]:
    problem = ""
    try:
        members = gojson.unmarshal_object(document.raw, work)
    except Malformed as error:
        members, problem = {}, error.message
    if problem:
        raise Malformed(
            f"unable to unmarshal secret from JSON: {problem}",
            hint="a property of extract leads to a JSON object",
        )
    for name, value in members.items():
        yield name, SecretBytes(gojson.byte_value(value, work))


def _present(payload: Fields, work: Work) -> dict[str, Json]:
    """The fields that are not empty, in the form of IBM's client for Go, which the operator shows."""
    return {
        name: value if name in _AUTHOR_DEFINED else _dated(name, value, work)
        for name, value in payload.by_name.items()
        if value is not None and (name in _DOCUMENTS.values() or value not in ([], {}))
    }


def _dated(name: str, value: Json, work: Work) -> Json:
    """Timestamps in UTC with milliseconds."""
    work.step(_VALUE_COST)
    if isinstance(value, dict):
        members = cast("Mapping[str, Json]", value)
        return {key: _dated(key, member, work) for key, member in members.items() if member is not None}
    if not isinstance(value, str) or not _is_moment(name):
        return value
    try:
        moment = datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return value
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _is_moment(name: str) -> bool:
    return name.endswith(("_at", "_date", "_rfc3339", "_on", "_time")) or name in {"not_before", "not_after"}


def _missing_field(name: str, secret: str, payload: Fields, place: Place) -> Malformed:
    return Malformed(f"key {name} does not exist in secret {secret}", hint=_other_type(payload, place))


def _other_type(payload: Fields, place: Place) -> str:
    """The hint for a secret whose type is not that of the key."""
    kind = payload.by_name.get("secret_type")
    if kind in TYPES and kind != place.type:
        return f"it is of type {kind}: write that before its name"
    return "it has expired" if payload.by_name.get("state_description") == "destroyed" else ""
