"""OpenStack Barbican: the secrets of one project.

spec      the spec of a store, its rules     client      the endpoints, the client of a store
keystone  logs in, finds Barbican            connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.barbican.client import BarbicanClient
from syncret.providers.barbican.spec import BarbicanSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_barbican(spec: BarbicanSpec, context: OpenContext) -> AsyncGenerator[BarbicanClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.barbican.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("barbican", BarbicanSpec, check=check), open=open_barbican)
