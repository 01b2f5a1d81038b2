"""Azure Key Vault: secrets, keys and certificates."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.azurekv.spec import AzureKvSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("azurekv", AzureKvSpec, check=check))
