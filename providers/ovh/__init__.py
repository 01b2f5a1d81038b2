"""OVHcloud Secret Manager: the secrets of one OKMS domain.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      push     which data a push writes
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.ovh.client import OvhClient
from syncret.providers.ovh.spec import OvhSpec, check


@asynccontextmanager
async def open_ovh(spec: OvhSpec, context: OpenContext) -> AsyncGenerator[OvhClient, None]:
    """Open a client of one store."""
    from syncret.providers.ovh.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("ovh", OvhSpec, check=check), open=open_ovh)
