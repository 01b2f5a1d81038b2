"""ngrok: secrets of one vault, which can be written and not read.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.ngrok.client import NgrokClient
from syncret.providers.ngrok.spec import NgrokSpec, check


@asynccontextmanager
async def open_ngrok(spec: NgrokSpec, context: OpenContext) -> AsyncGenerator[NgrokClient, None]:
    """Open a client of one store."""
    from syncret.providers.ngrok.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("ngrok", NgrokSpec, check=check), open=open_ngrok)
