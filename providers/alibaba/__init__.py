"""Secrets of Alibaba Cloud's Key Management Service.

spec        the spec of a store, its rules     client   the actions, the client of a store
connection  opens a store, its logins          signing  signed requests
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.alibaba.client import AlibabaClient
from syncret.providers.alibaba.spec import AlibabaSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_alibaba(spec: AlibabaSpec, context: OpenContext) -> AsyncGenerator[AlibabaClient, None]:
    """Open a client of one store."""
    from syncret.providers.alibaba.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


def published_rate(_spec: AlibabaSpec) -> float | None:
    """GetSecretValue at the shared gateway, for each account and region."""
    return 450.0


PROVIDER: Final = Provider(
    SpecType("alibaba", AlibabaSpec, check=check, gjson_properties=True),
    open=open_alibaba,
    published_rate=published_rate,
)
