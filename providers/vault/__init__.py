"""HashiCorp Vault: key-value engines of both versions, and other engines that support a plain read."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.vault.client import VaultClient
from syncret.providers.vault.receivers import receivers
from syncret.providers.vault.spec import VaultSpec, check


@asynccontextmanager
async def open_vault(spec: VaultSpec, context: OpenContext) -> AsyncGenerator[VaultClient, None]:
    """Open a client of one store."""
    from syncret.providers.vault.connection import open_store  # hvac and aiohttp are slow to import

    async with open_store(spec, context) as client:
        yield client


_API: Final = ApiNames(
    provider="HashiCorp/Vault",
    calls={
        "read": "ReadSecretData",
        "find": "ListSecrets",
        "push": "WriteSecretData",
        "delete": "DeleteSecret",
        "exists": "ReadSecretData",
        "probe": "LookupSelf",
    },
)

PROVIDER: Final = Provider(
    SpecType("vault", VaultSpec, check=check, gjson_properties=True),
    open=open_vault,
    receivers=receivers,
    api_names=lambda _: _API,
)
"""One read is one call, as Vault has no batch API: the session shares reads and does not batch."""
