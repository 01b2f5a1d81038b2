"""Fortanix DSM: security objects of the types SECRET and OPAQUE.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.fortanix.client import FortanixClient
from syncret.providers.fortanix.spec import FortanixSpec, check


@asynccontextmanager
async def open_fortanix(spec: FortanixSpec, context: OpenContext) -> AsyncGenerator[FortanixClient, None]:
    """Open a client of one store."""
    from syncret.providers.fortanix.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("fortanix", FortanixSpec, check=check), open=open_fortanix)
