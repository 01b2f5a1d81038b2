"""Azure Key Vault: secrets, keys and certificates.

spec        what a store says                auth        who the store is to Azure
api         the REST calls                   refusals    what the vault says when it refuses
objects     places and what stands there     payloads    values in what was fetched
client      reads and finds                  writing     pushes and deletes
material    keys and certificates to import  connection  all of it, put together
acr         the generator                    registry    the tokens it gets
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.azurekv.client import AzureKvClient
from syncret.providers.azurekv.spec import AzureKvSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_azurekv(spec: AzureKvSpec, context: OpenContext) -> AsyncGenerator[AzureKvClient, None]:
    """The client of one store, logged in."""
    from syncret.providers.azurekv.connection import open_store  # brings in asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("azurekv", AzureKvSpec, check=check), open=open_azurekv)
"""One value is one call: Key Vault has no interface for several, so the session shares and does not batch."""
