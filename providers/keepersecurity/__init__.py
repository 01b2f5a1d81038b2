"""Keeper Secrets Manager: the records that are shared with one application.

spec           the spec of a store, its rules   client       reads and finds
configuration  who the store is                 push         makes and changes records
protocol       encrypted and signed requests    vault        the endpoints, what they answer with
cipher         the ciphers                      records      fields, files, and the JSON of a record
connection     opens a store                    public_keys  those of Keeper's servers
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.keepersecurity.client import BATCH, KeeperClient
from syncret.providers.keepersecurity.spec import KeeperSpec, check

RATE: Final = 10.0
"""Calls a second: Keeper allows a device a hundred in ten seconds, for each endpoint."""


@asynccontextmanager
async def open_keeper(spec: KeeperSpec, context: OpenContext) -> AsyncGenerator[KeeperClient, None]:
    """Open a client of one store."""
    from syncret.providers.keepersecurity.connection import open_store  # imports asyncio, TLS and ciphers

    async with open_store(spec, context) as client:
        yield client


_API: Final = ApiNames(
    provider="KeeperSecurity",
    calls={
        "read": "GetSecrets",
        "find": "GetSecrets",
        "push": "Save",
        "delete": "DeleteSecrets",
    },
)

PROVIDER: Final = Provider(
    SpecType("keepersecurity", KeeperSpec, check=check),
    open=open_keeper,
    batch_size=BATCH,
    published_rate=lambda _: RATE,
    api_names=lambda _: _API,
)
