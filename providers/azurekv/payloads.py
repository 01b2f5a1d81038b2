"""The values of an object: a secret's text, a key as JSON, a certificate, or the tags of any of them."""

from syncret.config.fields import Json
from syncret.providers.azurekv.objects import CERTIFICATE, SECRET, Found
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.values import RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


def value_of(found: Found, ref: RemoteRef, work: Work) -> SecretBytes:
    """The value, a property of it, or a tag. Raises Malformed if there is no such property or tag."""
    if ref.metadata:
        return _tag(found, ref.property, work)
    if found.place.kind is CERTIFICATE or not ref.property:
        return found.value  # a certificate has no properties
    return SecretBytes(_property(found.value.raw, ref.property, ref.key, work))


def fields_of(found: Found, ref: RemoteRef, work: Work) -> SecretMap:
    """The members of a secret that is a JSON object, or its tags, each with the secret's name before it."""
    if found.place.kind is not SECRET:
        noun = found.place.kind.noun
        raise Malformed(
            f"cannot get use dataFrom to get {noun} secret", hint=f"read a {noun} by data[].remoteRef"
        )
    if ref.metadata and ref.property:
        return {f"{ref.key}_{ref.property}": _tag(found, ref.property, work)}
    if ref.metadata:
        return _tags(found, work)
    return extract.members(value_of(found, ref, work).raw, "error unmarshalling json data", work)


def _tag(found: Found, name: str, work: Work) -> SecretBytes:
    """A tag, a path into a tag that holds JSON, or all tags as JSON; timestamps count as tags."""
    tags = {**found.tags, **found.dates.shown()}
    if not name:
        texts: dict[str, Json] = {key: value for key, value in tags.items() if value is not None}
        return SecretBytes(gojson.marshal(texts, work).encode())
    if name in tags:
        return SecretBytes((tags[name] or "").encode())
    first, _, rest = name.partition(".")
    if not rest or first not in tags:
        raise Malformed(f"tag {name} does not exist", hint=f"look at the tags of {found.place}")
    text = tags[first]
    return SecretBytes(b"" if text is None else _property(text.encode(), rest, name, work))


def _tags(found: Found, work: Work) -> SecretMap:
    """All tags. One that is a JSON object of strings becomes an entry for each of its members."""
    name = found.place.name
    members_by_key = {f"{name}_{key}": text for key, text in found.dates.shown().items()}
    for key, text in found.tags.items():
        if text is None:
            continue
        members = _strings(text, work)
        if members is None:
            members_by_key[f"{name}_{key}"] = text
        else:
            members_by_key |= {f"{name}_{key}_{member}": value for member, value in members.items()}
    return {key: SecretBytes(text.encode()) for key, text in members_by_key.items()}


def _strings(text: str, work: Work) -> dict[str, str] | None:
    """The members of a JSON object of strings; None for any other text."""
    try:
        members = gojson.unmarshal_object(text, work)
    except Malformed:
        return None
    strings = {key: "" if value is None else value for key, value in members.items()}
    only_strings = {key: value for key, value in strings.items() if isinstance(value, str)}
    return only_strings if len(only_strings) == len(strings) else None


def _property(document: bytes, path: str, key: str, work: Work) -> bytes:
    """The value at a path or, if there is none, the member with the whole path as its name."""
    found = extract.value(document, path, work)
    if found is None and "." in path:
        found = extract.value(document, extract.escaped(path), work)
    if found is None:
        raise extract.missing_property(f"property {path} does not exist in key {key}")
    return found
