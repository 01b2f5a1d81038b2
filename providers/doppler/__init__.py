"""Doppler: the secrets of one config.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store, its logins
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.doppler.client import DopplerClient
from syncret.providers.doppler.spec import DopplerSpec, check
from syncret.providers.kit.environment import ADDRESSES


@asynccontextmanager
async def open_doppler(spec: DopplerSpec, context: OpenContext) -> AsyncGenerator[DopplerClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.doppler.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


def published_rate(_spec: DopplerSpec) -> float | None:
    """Doppler takes 120 reads of secrets a minute with one token on its smallest plan.

    https://docs.doppler.com/reference/api#rate-limits
    """
    return None if ADDRESSES.get("DOPPLER_BASE_URL") else 2.0


PROVIDER: Final = Provider(
    SpecType("doppler", DopplerSpec, check=check),
    open=open_doppler,
    batch_size=50,
    published_rate=published_rate,
)
"""A read asks for its names in the URL: more than fifty could make it longer than servers take."""
