"""Opens a store: HTTP, a login, and a client that uses both."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.ibm.api import Api
from syncret.providers.ibm.auth import choose_login
from syncret.providers.ibm.client import IbmClient
from syncret.providers.ibm.spec import IbmSpec
from syncret.providers.kit.auth.logins import ExpiringLogin
from syncret.providers.kit.http import Http


@asynccontextmanager
async def open_store(spec: IbmSpec, context: OpenContext) -> AsyncGenerator[IbmClient, None]:
    """A client that is logged in. Raises SyncError."""
    if not spec.service_url:
        raise Malformed("serviceURL is required", hint="write the instance's endpoint")
    async with Http(spec.service_url, now=context.now, network=context.network) as http:
        login = await choose_login(spec, http, context)
        tokens = ExpiringLogin(login, now=context.now, log_in=context.log_in)
        await tokens.get()
        yield IbmClient(Api(http, tokens, context.compute))
