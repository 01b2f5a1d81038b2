"""Vaults of Oracle Cloud Infrastructure.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      signing  signed requests
principals  who signs                          receivers  where the daemon's own identity would go
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.oracle.client import OracleClient
from syncret.providers.oracle.receivers import receivers
from syncret.providers.oracle.spec import OracleSpec, check


@asynccontextmanager
async def open_oracle(spec: OracleSpec, context: OpenContext) -> AsyncGenerator[OracleClient, None]:
    """Open a client of one store."""
    from syncret.providers.oracle.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("oracle", OracleSpec, check=check), open=open_oracle, receivers=receivers)
