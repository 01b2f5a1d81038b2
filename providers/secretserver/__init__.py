"""Delinea Secret Server, on premises, in the cloud, or as part of the Delinea Platform.

spec     the spec of a store, its rules     client      the endpoints, the client of a store
secrets  what a secret looks like, keys     push        writes fields of secrets
login    tokens, the vault of a platform    connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.secretserver.client import SecretServerClient
from syncret.providers.secretserver.spec import SecretServerSpec, check


@asynccontextmanager
async def open_secret_server(
    spec: SecretServerSpec, context: OpenContext
) -> AsyncGenerator[SecretServerClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.secretserver.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("secretserver", SecretServerSpec, check=check), open=open_secret_server)
