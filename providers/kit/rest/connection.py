"""Opens a store: HTTP, an identity, and the API that both make."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from syncret.providers.contract import OpenContext
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.http.tls import SYSTEM
from syncret.providers.kit.rest.api import Api, Refusals
from syncret.providers.kit.rest.identities import Identity


@asynccontextmanager
async def connected(
    url: str,
    context: OpenContext,
    identity: Identity | Callable[[Http], Awaitable[Identity]],
    refusals: Refusals,
    *,
    tls: Tls = SYSTEM,
) -> AsyncGenerator[Api, None]:
    """The API at a URL, logged in; at the end it is logged out. Raises SyncError.

    `identity` is the caller, or a function that makes it: some log in at the same server.
    """
    async with Http(url, tls=tls, now=context.now, network=context.network) as http:
        caller = await identity(http) if callable(identity) else identity
        await caller.check()
        try:
            yield Api(http, caller, refusals)
        finally:
            await caller.end()
