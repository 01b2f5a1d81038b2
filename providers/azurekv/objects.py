"""The objects of a vault (secrets, keys, certificates), and the keys that address them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from syncret.providers.api_names import CallKind
from syncret.providers.errors import Malformed
from syncret.providers.kit import push_options
from syncret.providers.values import SecretBytes

_NAME: Final = re.compile(r"[0-9A-Za-z-]{1,127}")


class Kind(NamedTuple):
    """One kind of object: its prefix in keys, its noun, and its path in URLs."""

    prefix: str
    noun: str
    path: str


SECRET: Final = Kind("secret", "secret", "secrets")
KEY: Final = Kind("key", "key", "keys")
CERTIFICATE: Final = Kind("cert", "certificate", "certificates")

_KINDS: Final = {kind.prefix: kind for kind in (SECRET, KEY, CERTIFICATE)}


class Place(NamedTuple):
    """The object that a key addresses."""

    kind: Kind
    name: str

    @property
    def key(self) -> str:
        """The key in full."""
        return f"{self.kind.prefix}/{self.name}"

    def __str__(self) -> str:
        return f"{self.kind.noun} {self.name}"


def place_of(key: str) -> Place:
    """The object of a key: `secret/NAME`, `key/NAME`, `cert/NAME`, or `NAME` for a secret.

    Raises Malformed.
    """
    prefix, *rest = key.split("/")
    name = rest[0] if rest else prefix
    kind = _KINDS.get(prefix) if rest else SECRET
    if kind is None:
        raise Malformed(
            f"unknown Azure Keyvault object Type for {name}",
            hint=f"{prefix!r} is none: write secret/{name}, key/{name} or cert/{name}",
        )
    if not _NAME.fullmatch(name):
        raise Malformed(
            f"{name!r} cannot be the name of a {kind.noun}",
            hint="names in Key Vault are letters, digits and - only, 127 at most",
        )
    return Place(kind, name)


_CALLS: Final = {
    SECRET: {"read": "GetSecret", "push": "SetSecret", "delete": "DeleteSecret", "exists": "GetSecret"},
    KEY: {"read": "GetKey", "push": "ImportKey", "delete": "DeleteKey", "exists": "GetKey"},
    CERTIFICATE: {
        "read": "GetCertificate",
        "push": "ImportCertificate",
        "delete": "DeleteCertificate",
        "exists": "GetCertificate",
    },
}


def call_for_key(kind: CallKind, key: str) -> str | None:
    """The name of a call for the object of a key; None if the key is wrong."""
    try:
        return _CALLS[place_of(key).kind].get("read" if kind == "metadata" else kind)
    except Malformed:
        return None


@dataclass(frozen=True, slots=True)
class Dates:
    """Timestamps in seconds since the epoch, as far as the vault returns them."""

    expires: int | None = None
    created: int | None = None
    updated: int | None = None
    not_before: int | None = None

    def shown(self) -> dict[str, str]:
        """The timestamps as tags show them."""
        moments = {
            "attribute.expires": self.expires,
            "attribute.created": self.created,
            "attribute.updated": self.updated,
            "attribute.notBefore": self.not_before,
        }
        return {
            name: f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"
            for name, moment in moments.items()
            if moment is not None
        }


@dataclass(frozen=True, slots=True)
class Found:
    """One version of an object: its value (JSON for a key, CER for a certificate), tags and timestamps."""

    place: Place
    value: SecretBytes
    version: str = ""
    tags: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    dates: Dates = Dates()
    content_type: str | None = None

    @property
    def owned(self) -> bool:
        """Whether it carries our mark."""
        return push_options.is_ours(self.tags)
