"""Azure Key Vault: secrets, keys and certificates.

spec        the spec of a store, its rules     auth        logins at Entra ID
api         the REST calls                     errors      Key Vault's error responses as ours
objects     keys, and objects of a vault       payloads    values and properties of an object
client      the client of a store              push        pushes and deletes
material    keys and certificates to import    connection  opens a store
acr         the generator                      registry    tokens of a container registry
receivers   where the daemon's own identity would go
"""

from typing import Final
from urllib.parse import urlsplit

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.azurekv.objects import call_for_key
from syncret.providers.azurekv.receivers import receivers
from syncret.providers.azurekv.spec import AzureKvSpec, check
from syncret.providers.contract import OnFirstUse, Provider

_API: Final = ApiNames("Azure/KeyVault", read="GetSecret", find="GetSecrets", by_key=call_for_key)


def published_rate(spec: AzureKvSpec) -> float | None:
    """A vault of Azure's clouds takes 4,000 transactions in ten seconds.

    https://learn.microsoft.com/azure/key-vault/general/service-limits
    """
    host = urlsplit(spec.vault_url).hostname or ""
    return 400.0 if host.partition(".vault.")[2] in _CLOUDS else None


_CLOUDS: Final = {"azure.cn", "azure.net", "microsoftazure.de", "usgovcloudapi.net"}

PROVIDER: Final = Provider(
    SpecType("azurekv", AzureKvSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.azurekv.connection"),
    receivers=receivers,
    published_rate=published_rate,
    api_names=lambda _: _API,
)
"""One value is one call, as Key Vault has no batch API: the session shares reads and does not batch."""
