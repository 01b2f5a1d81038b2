"""OpenBao: key-value engines of both versions, read only."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.openbao.client import OpenBaoClient
from syncret.providers.openbao.spec import OpenBaoSpec, check


@asynccontextmanager
async def open_openbao(spec: OpenBaoSpec, context: OpenContext) -> AsyncGenerator[OpenBaoClient, None]:
    """Open a client of one store."""
    from syncret.providers.openbao.connection import open_store  # hvac and aiohttp are slow to import

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("openBao", OpenBaoSpec, check=check), open=open_openbao)
