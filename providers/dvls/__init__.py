"""Devolutions Server: credential entries of one vault, or of all that the application may see.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      entries  the fields of each kind of entry
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.dvls.client import DvlsClient
from syncret.providers.dvls.spec import DvlsSpec, check


@asynccontextmanager
async def open_dvls(spec: DvlsSpec, context: OpenContext) -> AsyncGenerator[DvlsClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.dvls.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("dvls", DvlsSpec, check=check), open=open_dvls)
