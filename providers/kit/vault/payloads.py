"""Values out of what an engine answered, without a call: as Go writes them, the same bytes for everyone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from syncret.config.fields import Json
from syncret.providers.contract import SecretBytes, SecretMap
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract, gojson


@dataclass(frozen=True, slots=True)
class Payload:
    """The members of one entry, numbers as they were written."""

    data: Mapping[str, Json] = field(repr=False)

    def document(self) -> bytes:
        """All of it, as one JSON object."""
        return gojson.marshal(dict(self.data)).encode()


def value(payload: Payload, name: str, *, paths: bool = True) -> SecretBytes:
    """The whole entry as JSON; or a member of just this name; or, with `paths`, what the path leads to.

    Raises Malformed where there is no such property: that is a mistake, not an entry that was deleted.
    """
    if not name:
        return SecretBytes(payload.document())
    if name in payload.data:
        return SecretBytes(gojson.byte_value(payload.data[name]))
    found = extract.value(payload.document(), name) if paths else None
    if found is None:
        raise extract.missing(f'cannot find secret data for key: "{name}"')
    return SecretBytes(found)


def fields(document: SecretBytes) -> SecretMap:
    """A JSON object as a map of values: numbers pass through a float, as they do in ESO."""
    try:
        members = gojson.unmarshal_object(document.raw)
    except Malformed as error:
        raise Malformed(
            f"unable to unmarshal secret: {error.message}", hint="extract takes a value that is a JSON object"
        ) from None
    return {key: SecretBytes(gojson.byte_value(member)) for key, member in members.items()}
