"""Chef Infra Server: items of data bags, read and written as one user or client.

spec     the spec of a store, its rules     client      the endpoints, the client of a store
signing  signs each request                 connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.chef.client import ChefClient
from syncret.providers.chef.spec import ChefSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_chef(spec: ChefSpec, context: OpenContext) -> AsyncGenerator[ChefClient, None]:
    """Open a client of one store."""
    from syncret.providers.chef.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("chef", ChefSpec, check=check), open=open_chef)
