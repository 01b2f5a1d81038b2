"""IBM Cloud Secrets Manager.

spec      what a store says                 auth       who the store is to IBM Cloud
api       the REST calls                    refs       what a key names
client    reads                             payloads   values in what was fetched
connection                                  all of it, put together
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.ibm.client import IbmClient
from syncret.providers.ibm.spec import IbmSpec, check


@asynccontextmanager
async def open_ibm(spec: IbmSpec, context: OpenContext) -> AsyncGenerator[IbmClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.ibm.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("ibm", IbmSpec, check=check), open=open_ibm)
"""One secret is one call: IBM has no interface for several, so the session shares and does not batch."""
