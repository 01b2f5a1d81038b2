"""Scaleway Secret Manager: the secrets of one project in one region.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      names    keys: by ID, by name, by path
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.scaleway.client import ScalewayClient
from syncret.providers.scaleway.spec import ScalewaySpec, check


@asynccontextmanager
async def open_scaleway(spec: ScalewaySpec, context: OpenContext) -> AsyncGenerator[ScalewayClient, None]:
    """Open a client of one store."""
    from syncret.providers.scaleway.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("scaleway", ScalewaySpec, check=check, gjson_properties=True), open=open_scaleway
)
