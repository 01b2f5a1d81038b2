"""IBM Cloud Secrets Manager.

spec      the spec of a store, its rules    auth         logins at IBM Cloud
api       the REST calls                    refs         the secret that a key names
client    the client of a store             payloads     values and properties of a secret
receivers where the daemon's own identity   connection   opens a store
          would go
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.ibm.client import IbmClient
from syncret.providers.ibm.receivers import receivers
from syncret.providers.ibm.refs import call_for_key
from syncret.providers.ibm.spec import IbmSpec, check


@asynccontextmanager
async def open_ibm(spec: IbmSpec, context: OpenContext) -> AsyncGenerator[IbmClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.ibm.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


_API: Final = ApiNames(
    provider="IBM/SecretsManager", calls={"read": "GetSecretByNameType"}, by_key=call_for_key
)

PROVIDER: Final = Provider(
    SpecType("ibm", IbmSpec, check=check, gjson_properties=True),
    open=open_ibm,
    receivers=receivers,
    api_names=lambda _: _API,
)
"""One secret is one call, as IBM has no batch API: the session shares reads and does not batch."""
