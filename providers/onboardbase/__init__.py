"""Onboardbase: the secrets of one environment of one project, decrypted here.

spec        the spec of a store, its rules     client     the endpoints, the client of a store
connection  opens a store                      cryptojs   decrypts what a browser has encrypted
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.onboardbase.client import OnboardbaseClient
from syncret.providers.onboardbase.spec import OnboardbaseSpec, check


@asynccontextmanager
async def open_onboardbase(
    spec: OnboardbaseSpec, context: OpenContext
) -> AsyncGenerator[OnboardbaseClient, None]:
    """Open a client of one store."""
    from syncret.providers.onboardbase.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("onboardbase", OnboardbaseSpec, check=check), open=open_onboardbase, batch_size=1000
)
"""One answer has all secrets of the environment, however many are asked for."""
