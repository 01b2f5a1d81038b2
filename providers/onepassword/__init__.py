"""1Password, through a Connect server.

spec        the spec of a store, its rules     client   the client of a store
connection  opens a store                      api      the endpoints, vaults and items
items       fields and files of an item        push     changes items
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.onepassword.client import OnePasswordClient
from syncret.providers.onepassword.spec import OnePasswordSpec, check


@asynccontextmanager
async def open_onepassword(
    spec: OnePasswordSpec, context: OpenContext
) -> AsyncGenerator[OnePasswordClient, None]:
    """Open a client of one store."""
    from syncret.providers.onepassword.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("onepassword", OnePasswordSpec, check=check), open=open_onepassword, batch_size=50
)
"""Each item is a call; the batch shares the list that says which item has which title."""
