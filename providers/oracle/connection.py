"""Opens a store."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.kit.http import Http
from syncret.providers.kit.rest.api import Refusals, bad_signature, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity
from syncret.providers.oracle.client import OracleClient
from syncret.providers.oracle.principals import log_in
from syncret.providers.oracle.receivers import managing, reading
from syncret.providers.oracle.signing import SignedRequests
from syncret.providers.oracle.spec import OracleSpec


class _Failure(msgspec.Struct):
    code: str
    message: str


_REFUSALS: Final = Refusals(
    vendor="Oracle",
    check="check region",
    is_absent=says(_Failure, lambda failure: failure.code == "NotAuthorizedOrNotFound"),
    errors={401: bad_signature("auth.tenancy, auth.user and auth.secretRef, or what the principal may")},
)


@asynccontextmanager
async def open_store(spec: OracleSpec, context: OpenContext) -> AsyncGenerator[OracleClient, None]:
    """A client that signs. Raises SyncError."""
    url = reading(spec.region)

    async def identify(http: Http) -> Identity:
        return SignedRequests(lambda: log_in(spec, http, context), context, url)

    async with connected(url, context, identify, _REFUSALS) as api:
        vaults, memory = managing(spec.region), context.store_memory
        yield OracleClient(spec, api, context.compute, vaults=vaults, memory=memory)
