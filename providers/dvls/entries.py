"""The fields of each kind of credential entry: what they are called in a map, and in the API."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Kind(NamedTuple):
    """One kind of entry."""

    fields: Mapping[str, str]
    """The names in the API by those in a map."""
    secret: str = ""
    """The field that a push without a property changes, as the API calls it; empty: there must be one."""


KINDS: Final[Mapping[str, Kind]] = {
    "Default": Kind({"username": "username", "password": "password", "domain": "domain"}, "password"),
    "AccessCode": Kind({"password": "password"}, "password"),
    "ApiKey": Kind({"api-id": "apiId", "api-key": "apiKey", "tenant-id": "tenantId"}),
    "AzureServicePrincipal": Kind(
        {"client-id": "clientId", "client-secret": "clientSecret", "tenant-id": "tenantId"}
    ),
    "ConnectionString": Kind({"connection-string": "connectionString"}),
    "PrivateKey": Kind(
        {
            "username": "privateKeyOverrideUsername",
            "password": "privateKeyOverridePassword",
            "private-key": "privateKeyData",
            "public-key": "publicKeyData",
            "passphrase": "privateKeyPassPhrase",
        },
    ),
}

NEW: Final = "Default"
"""The kind of an entry that a push creates."""


def members(entry: Mapping[str, Any]) -> dict[str, str] | None:
    """The fields of an entry that are set, with its ID and name; None if it is no credential."""
    kind = KINDS.get(entry.get("subType") or "") if entry.get("type") == "Credential" else None
    if kind is None:
        return None
    data: Mapping[str, Any] = entry.get("data") or {}
    found = {name: data.get(field) for name, field in kind.fields.items()}
    head = {"entry-id": str(entry.get("id", "")), "entry-name": str(entry.get("name", ""))}
    return head | {name: str(value) for name, value in found.items() if value}
