"""What a value of Secrets Manager or Parameter Store gives: itself, one property, or all its members."""

from collections.abc import Mapping

from syncret.providers.contract import RemoteRef, SecretBytes, SecretMap
from syncret.providers.errors import SyncError
from syncret.providers.kit import extract


def value(payload: SecretBytes, ref: RemoteRef) -> SecretBytes:
    """The value, or what its property says. A property is one member's name if there is such a member."""
    if not ref.property:
        return payload
    found = None
    if "." in ref.property:
        found = extract.value(payload.raw, extract.escaped(ref.property))
    if found is None:
        found = extract.value(payload.raw, ref.property)
    if found is None:
        raise extract.missing(f"key {ref.property} does not exist in secret {ref.key}")
    return SecretBytes(found)


def fields(payload: SecretBytes, ref: RemoteRef) -> SecretMap:
    """The members of a value that is a JSON object."""
    return extract.members(value(payload, ref).raw, f"unable to unmarshal secret {ref.key}")


def complete(found: Mapping[str, SecretBytes | SyncError]) -> SecretMap:
    """All that a search found. Raises what one was refused with: without it the rest would look like all."""
    values: dict[str, SecretBytes] = {}
    for name, value in found.items():
        if isinstance(value, SyncError):
            raise value.within(name)
        values[name] = value
    return values
