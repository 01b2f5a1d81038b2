"""Google Cloud Secret Manager.

spec      the spec of a store, its rules     auth, federation   logins at Google
api       the REST calls                     payloads           values and properties of an entry
client    the client of a store              push               pushes and deletes
gcr       the generator                      connection         opens a store
receivers                                    where the daemon's own identity would go
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.gcpsm.client import GcpSmClient
from syncret.providers.gcpsm.receivers import receivers
from syncret.providers.gcpsm.spec import GcpSmSpec, check


@asynccontextmanager
async def open_gcpsm(spec: GcpSmSpec, context: OpenContext) -> AsyncGenerator[GcpSmClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.gcpsm.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


_API: Final = ApiNames(
    provider="GCP/SecretManager",
    calls={
        "read": "AccessSecretVersion",
        "metadata": "GetSecret",
        "find": "ListSecrets",
        "push": "AddSecretVersion",
        "delete": "DeleteSecret",
        "exists": "AccessSecretVersion",
    },
)


def published_rate(_spec: GcpSmSpec) -> float | None:
    """A project has 90,000 reads of values a minute. Lists, and writes, have 600: there the server throttles.

    https://cloud.google.com/secret-manager/quotas
    """
    return 1500.0


PROVIDER: Final = Provider(
    SpecType("gcpsm", GcpSmSpec, check=check, gjson_properties=True),
    open=open_gcpsm,
    receivers=receivers,
    published_rate=published_rate,
    api_names=lambda _: _API,
)
"""One value is one call, as Google has no batch API: the session shares reads and does not batch."""
