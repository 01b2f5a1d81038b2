"""HashiCorp Vault: key-value engines of both versions, and other engines that support a plain read."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.vault.receivers import receivers
from syncret.providers.vault.spec import VaultSpec, check

_API: Final = ApiNames(
    "HashiCorp/Vault",
    read="ReadSecretData",
    find="ListSecrets",
    push="WriteSecretData",
    delete="DeleteSecret",
    probe="LookupSelf",
)

PROVIDER: Final = Provider(
    SpecType("vault", VaultSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.vault.connection"),
    receivers=receivers,
    api_names=lambda _: _API,
)
"""One read is one call, as Vault has no batch API: the session shares reads and does not batch."""
