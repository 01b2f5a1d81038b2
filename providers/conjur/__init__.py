"""CyberArk Conjur: the variables of one account.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      auth     API keys, JWTs and certificates; Conjur's tokens
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.conjur.client import ConjurClient
from syncret.providers.conjur.spec import ConjurSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_conjur(spec: ConjurSpec, context: OpenContext) -> AsyncGenerator[ConjurClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.conjur.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("conjur", ConjurSpec, check=check, gjson_properties=True), open=open_conjur, batch_size=50
)
