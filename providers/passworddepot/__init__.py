"""Password Depot Enterprise Server: entries of one database.

spec        the spec of a store
client      the endpoints, the client of a store
connection  opens a store: a login
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.passworddepot.client import PasswordDepotClient
from syncret.providers.passworddepot.spec import PasswordDepotSpec


@asynccontextmanager
async def open_passworddepot(
    spec: PasswordDepotSpec, context: OpenContext
) -> AsyncGenerator[PasswordDepotClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.passworddepot.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("passworddepot", PasswordDepotSpec), open=open_passworddepot, batch_size=50
)
