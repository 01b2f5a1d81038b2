"""BeyondTrust Password Safe: the secrets of Secrets Safe, or the passwords of managed accounts.

spec        the spec of a store, its rules     safe      the client of Secrets Safe
connection  opens a store: a session           accounts  the client of managed accounts
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.beyondtrust.accounts import AccountsClient
from syncret.providers.beyondtrust.safe import SafeClient
from syncret.providers.beyondtrust.spec import BeyondTrustSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_beyondtrust(
    spec: BeyondTrustSpec, context: OpenContext
) -> AsyncGenerator[SafeClient | AccountsClient, None]:
    """Open a client of one store, signed in; at the end it is signed out."""
    from syncret.providers.beyondtrust.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("beyondtrust", BeyondTrustSpec, check=check), open=open_beyondtrust)
