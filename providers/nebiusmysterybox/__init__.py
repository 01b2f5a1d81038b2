"""MysteryBox, the secret manager of Nebius AI Cloud.

spec        the spec of a store, its rules     client   the method, the client of a store
connection  opens a store, its logins
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.nebiusmysterybox.client import NebiusClient
from syncret.providers.nebiusmysterybox.spec import NebiusSpec, check


@asynccontextmanager
async def open_nebius(spec: NebiusSpec, context: OpenContext) -> AsyncGenerator[NebiusClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.nebiusmysterybox.connection import open_store  # imports asyncio, TLS and h2

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("nebiusmysterybox", NebiusSpec, check=check), open=open_nebius)
