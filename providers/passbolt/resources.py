"""Resources as Passbolt stores them: what describes one, plain or encrypted, and its secret.

Up to version 4 a name is plain. Since version 5 it is in `metadata`, a message for the key of the account, or
for one that accounts share: https://www.passbolt.com/docs/admin/metadata-encryption/manage-metadata-key
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from syncret.providers.errors import Malformed

T = TypeVar("T", bound=msgspec.Struct)

_TEXTS: Final = {"password-string", "v5-password-string"}
"""Kinds whose secret is the password itself; that of the others is a JSON object."""
_WITH_PASSWORD: Final = {"password-and-description", "password-description-totp"}
"""Kinds that always have a password; those of version 5 may have none."""
_OTHERS: Final = {
    *("totp", "v5-default", "v5-default-with-totp", "v5-totp-standalone"),
    *("v5-custom-fields", "v5-note", "v5-pin-code"),
}


class _Kind(msgspec.Struct):
    slug: str = ""


class Message(msgspec.Struct):
    """What is encrypted for the account."""

    data: str = ""


class Resource(msgspec.Struct):
    """A resource in an answer. With `metadata` it has none of the plain fields."""

    id: str
    name: str | None = None
    username: str | None = None
    uri: str | None = None
    description: str | None = None
    metadata: str | None = None
    metadata_key_id: str | None = None
    metadata_key_type: str | None = None
    resource_type: _Kind = msgspec.field(default_factory=_Kind)
    secrets: list[Message] = []

    @property
    def shared_key(self) -> str:
        """The ID of the shared key that its metadata are encrypted for; empty if it is the account's."""
        own = not self.metadata or self.metadata_key_type == "user_key"
        return "" if own else self.metadata_key_id or "unknown"


class SharedKey(msgspec.Struct):
    """A key that all accounts share; its private part is there once for each of them."""

    id: str
    metadata_private_keys: list[Message] = []


class PrivateKey(msgspec.Struct):
    """The private part of a shared key, decrypted."""

    armored_key: str
    passphrase: str = ""


class Metadata(msgspec.Struct):
    """What describes a resource; only encrypted metadata have several addresses."""

    name: str
    username: str | None = None
    uri: str | None = None
    uris: list[str | None] | None = None
    description: str | None = None

    @property
    def address(self) -> str:
        """The only address, or the first one."""
        return self.uri or next(iter(self.uris or ()), None) or ""


class _Secret(msgspec.Struct):
    password: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """A resource, decrypted; in the order of the operator's JSON."""

    by_name: Mapping[str, str] = field(repr=False)


def decoded(text: bytes, model: type[T]) -> T | None:
    """A decrypted JSON object; None if it is damaged."""
    try:
        return msgspec.json.decode(text, type=model)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def damaged(id_: str, what: str) -> Malformed:
    """The error of a resource that was decrypted, but is not as Passbolt writes it."""
    return Malformed(f"resource {id_} is damaged: {what}", hint="save it anew")


def plain_metadata(resource: Resource) -> Metadata | Malformed:
    """The metadata of a resource of version 4."""
    if resource.name is None:
        return damaged(resource.id, "it has no name, and no encrypted metadata")
    return Metadata(resource.name, resource.username, resource.uri, None, resource.description)


def fields_of(resource: Resource, metadata: Metadata, text: bytes) -> Fields | Malformed:
    """The fields of a resource, by its kind. A description beside the secret precedes one in it."""
    kind = resource.resource_type.slug
    if kind in _TEXTS:
        secret = _Secret(text.decode("utf-8", "replace"))
    elif kind in _WITH_PASSWORD | _OTHERS:
        found = decoded(text, _Secret)
        if found is None:
            return damaged(resource.id, "its secret is no JSON")
        if kind in _WITH_PASSWORD and found.password is None:
            return damaged(resource.id, "its secret has no password")
        secret = found
    else:
        return Malformed(
            f"resource {resource.id} is of the kind {kind or 'unknown'}, which is not read",
            hint="keep the value in a resource of another kind: one with a password, or a note",
        )
    return Fields(
        {
            "name": metadata.name,
            "username": metadata.username or "",
            "password": secret.password or "",
            "uri": metadata.address,
            "description": metadata.description or secret.description or "",
        }
    )
