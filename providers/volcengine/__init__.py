"""Secrets of Volcengine's key management service.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store, its logins          signing  signed requests
receivers   addresses, and what gets the daemon's own identity
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.volcengine.client import VolcengineClient
from syncret.providers.volcengine.receivers import receivers
from syncret.providers.volcengine.spec import VolcengineSpec, check


@asynccontextmanager
async def open_volcengine(
    spec: VolcengineSpec, context: OpenContext
) -> AsyncGenerator[VolcengineClient, None]:
    """Open a client of one store."""
    from syncret.providers.volcengine.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("volcengine", VolcengineSpec, check=check), open=open_volcengine, receivers=receivers
)
