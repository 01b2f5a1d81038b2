"""BeyondTrust Workload Credentials, the Secrets API.

spec        the spec of a store, its rules     client          the endpoints, the client of a store
connection  opens a store                      dynamic_secret  the spec of the generator
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.beyondtrustworkloadcredentials.client import WorkloadCredentialsClient
from syncret.providers.beyondtrustworkloadcredentials.spec import BeyondTrustWorkloadCredentialsSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_workload_credentials(
    spec: BeyondTrustWorkloadCredentialsSpec, context: OpenContext
) -> AsyncGenerator[WorkloadCredentialsClient, None]:
    """Open a client of one store."""
    from syncret.providers.beyondtrustworkloadcredentials.connection import open_store  # imports TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(
    SpecType("beyondtrustworkloadcredentials", BeyondTrustWorkloadCredentialsSpec, check=check),
    open=open_workload_credentials,
)
