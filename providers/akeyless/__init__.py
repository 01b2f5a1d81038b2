"""Akeyless: static, rotated and dynamic secrets and certificates, in the cloud or through a gateway.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      auth     the logins; the token is part of each body
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.akeyless.client import AkeylessClient
from syncret.providers.akeyless.spec import AkeylessSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_akeyless(spec: AkeylessSpec, context: OpenContext) -> AsyncGenerator[AkeylessClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.akeyless.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("akeyless", AkeylessSpec, check=check, gjson_properties=True), open=open_akeyless, batch_size=50
)
