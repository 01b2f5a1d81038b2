"""Opens a store: HTTP, a login, and a client that uses both."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.ibm.api import REFUSALS, read
from syncret.providers.ibm.auth import choose_login
from syncret.providers.ibm.client import IbmClient
from syncret.providers.ibm.spec import IbmSpec
from syncret.providers.kit.http import Http
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn


@asynccontextmanager
async def open_store(spec: IbmSpec, context: OpenContext) -> AsyncGenerator[IbmClient, None]:
    """A client that is logged in. Raises SyncError."""
    if not spec.service_url:
        raise Malformed("serviceURL is required", hint="write the instance's endpoint")

    async def identify(http: Http) -> Identity:
        return LoggedIn(await choose_login(spec, http, context), context)

    async with connected(spec.service_url, context, identify, REFUSALS) as api:
        yield IbmClient(api, partial(read, api, compute=context.compute))
