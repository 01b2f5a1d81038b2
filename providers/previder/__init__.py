"""Previder Vault: the secrets of one environment.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.previder.client import PreviderClient
from syncret.providers.previder.spec import PreviderSpec, check


@asynccontextmanager
async def open_previder(spec: PreviderSpec, context: OpenContext) -> AsyncGenerator[PreviderClient, None]:
    """Open a client of one store."""
    from syncret.providers.previder.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("previder", PreviderSpec, check=check), open=open_previder)
