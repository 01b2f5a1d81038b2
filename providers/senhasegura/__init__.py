"""senhasegura DSM: the secrets of one application.

spec        the spec of a store, its rules     client   the endpoint, the client of a store
connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.senhasegura.client import SenhaseguraClient
from syncret.providers.senhasegura.spec import SenhaseguraSpec, check


@asynccontextmanager
async def open_senhasegura(
    spec: SenhaseguraSpec, context: OpenContext
) -> AsyncGenerator[SenhaseguraClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.senhasegura.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("senhasegura", SenhaseguraSpec, check=check), open=open_senhasegura, batch_size=1000
)
"""One answer has all secrets of the application, however many are asked for."""
