"""Pulumi ESC: the values of one environment.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store, its logins          paths    property paths
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.pulumi.client import PulumiClient
from syncret.providers.pulumi.spec import PulumiSpec, check


@asynccontextmanager
async def open_pulumi(spec: PulumiSpec, context: OpenContext) -> AsyncGenerator[PulumiClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.pulumi.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("pulumi", PulumiSpec, check=check), open=open_pulumi, batch_size=1000)
"""One answer has the whole environment, however many values of it are asked for."""
