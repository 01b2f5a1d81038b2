"""Cloud.ru Secret Manager.

spec        the spec of a store, its rules     client   the methods, the client of a store
connection  opens a store, its login
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.cloudrusm.client import CloudRuClient
from syncret.providers.cloudrusm.spec import CloudRuSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_cloudru(spec: CloudRuSpec, context: OpenContext) -> AsyncGenerator[CloudRuClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.cloudrusm.connection import open_store  # imports asyncio, TLS and h2

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("cloudrusm", CloudRuSpec, check=check, gjson_properties=True), open=open_cloudru
)
