"""Passbolt: the resources that one account can open.

spec        the spec of a store, its rules       client   the endpoints, the client of a store
connection  opens a store: a login with OpenPGP  openpgp  the account's key, with a library that is an extra
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.passbolt.client import PassboltClient
from syncret.providers.passbolt.spec import PassboltSpec, check


@asynccontextmanager
async def open_passbolt(spec: PassboltSpec, context: OpenContext) -> AsyncGenerator[PassboltClient, None]:
    """Open a client of one store, logged in; at the end it is logged out."""
    from syncret.providers.passbolt.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("passbolt", PassboltSpec, check=check), open=open_passbolt, batch_size=20)
