"""Bitwarden Secrets Manager, through its SDK server.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.bitwardensecretsmanager.client import BATCH, BitwardenClient
from syncret.providers.bitwardensecretsmanager.spec import BitwardenSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_bitwarden(spec: BitwardenSpec, context: OpenContext) -> AsyncGenerator[BitwardenClient, None]:
    """Open a client of one store."""
    from syncret.providers.bitwardensecretsmanager.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("bitwardensecretsmanager", BitwardenSpec, check=check), open=open_bitwarden, batch_size=BATCH
)
