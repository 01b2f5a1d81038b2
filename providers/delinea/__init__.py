"""Delinea DevOps Secrets Vault: the secrets of one tenant.

spec        the spec of a store, its rules     client   the endpoint, the client of a store
connection  opens a store, by client credentials
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.delinea.client import DelineaClient
from syncret.providers.delinea.spec import DelineaSpec, check


@asynccontextmanager
async def open_delinea(spec: DelineaSpec, context: OpenContext) -> AsyncGenerator[DelineaClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.delinea.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("delinea", DelineaSpec, check=check, gjson_properties=True), open=open_delinea
)
