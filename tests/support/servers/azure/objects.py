"""Secrets, keys and certificates in their versions, as Key Vault keeps them and shows them as JSON."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.support.servers.azure.errors import VaultError, bad

Shown: TypeAlias = dict[str, Any]

DAYS = 90
NOUNS = {"secrets": "Secret", "keys": "Key", "certificates": "Certificate"}
_TAGS = 15


@dataclass
class Version:
    """One version. `fields` are those of its kind: value, key, cer."""

    fields: Shown = field(repr=False)
    created: int
    updated: int
    attributes: Shown
    """What the caller may set: enabled, exp, nbf."""
    tags: dict[str, str]
    id: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def enabled(self) -> bool:
        return bool(self.attributes.get("enabled", True))

    def beside(self) -> Shown:
        """Everything but value and name."""
        told: Shown = {
            "attributes": {
                "enabled": True,
                **self.attributes,
                "created": self.created,
                "updated": self.updated,
                "recoveryLevel": "Recoverable+Purgeable",
                "recoverableDays": DAYS,
            }
        }
        return {**told, "tags": self.tags} if self.tags else told


@dataclass
class Item:
    """A name with versions, the newest last. `managed`: it belongs to a certificate."""

    kind: str
    name: str
    versions: list[Version] = field(default_factory=list[Version])
    managed: bool = False

    @property
    def path(self) -> str:
        return f"{self.kind}/{self.name}"

    def version(self, wanted: str) -> Version:
        """The newest where none is named."""
        for version in reversed(self.versions):
            if wanted in {"", version.id}:
                return version
        noun = NOUNS[self.kind]
        told = f"A {noun.lower()} with (name/id) {self.name}/{wanted} was not found in this key vault."
        raise VaultError(404, f"{noun}NotFound", told)

    def shown(self, base: str, version: Version) -> Shown:
        """With its value."""
        url = f"{base}/{self.path}/{version.id}"
        told = {**version.fields, **version.beside()}
        if self.kind == "keys":
            told["key"] = {"kid": url, **version.fields["key"]}
        else:
            told["id"] = url
        if self.kind == "certificates":
            told["kid"] = f"{base}/keys/{self.name}/{version.id}"
            told["sid"] = f"{base}/secrets/{self.name}/{version.id}"
        return {**told, "managed": True} if self.managed else told

    def listed(self, base: str, version: Version | None = None) -> Shown:
        """Without its value; as a name, or as one version."""
        newest = version or self.versions[-1]
        told = newest.beside()
        told["kid" if self.kind == "keys" else "id"] = f"{base}/{self.path}" + (
            f"/{version.id}" if version else ""
        )
        for name in ("contentType", "x5t"):
            if name in newest.fields:
                told[name] = newest.fields[name]
        return {**told, "managed": True} if self.managed else told


def attributes_of(body: Mapping[str, Any]) -> Shown:
    """Those that a caller may set."""
    given: Shown = body.get("attributes") or {}
    told = {name: given[name] for name in ("enabled", "exp", "nbf") if given.get(name) is not None}
    if not all(isinstance(told.get(name, 0), int) for name in ("exp", "nbf")):
        raise bad("Property attributes has invalid value")
    return told


def tags_of(body: Mapping[str, Any]) -> dict[str, str]:
    tags: Shown = body.get("tags") or {}
    if len(tags) > _TAGS or not all(
        isinstance(value, str) and len(key) <= 256 and len(value) <= 256 for key, value in tags.items()
    ):
        raise bad("Property tags has invalid value")
    return dict(tags)
