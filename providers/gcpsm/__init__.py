"""Google Cloud Secret Manager.

spec      what a store says                 auth, federation   who the store is to Google
api       the REST calls                    payloads           values in what was fetched
client    reads and finds                   writing            pushes and deletes
gcr       the generator                     connection         all of it, put together
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.gcpsm.client import GcpSmClient
from syncret.providers.gcpsm.spec import GcpSmSpec, check


@asynccontextmanager
async def open_gcpsm(spec: GcpSmSpec, context: OpenContext) -> AsyncGenerator[GcpSmClient, None]:
    """The client of one store, logged in."""
    from syncret.providers.gcpsm.connection import open_store  # brings in asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("gcpsm", GcpSmSpec, check=check), open=open_gcpsm)
"""One value is one call: Google has no interface for several, so the session shares and does not batch."""
