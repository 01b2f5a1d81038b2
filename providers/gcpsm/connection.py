"""Opens a store: HTTP, a login, and a client that uses both."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.gcpsm.api import Api
from syncret.providers.gcpsm.auth import choose_login, open_login_context, project_of
from syncret.providers.gcpsm.client import GcpSmClient
from syncret.providers.gcpsm.receivers import receivers
from syncret.providers.gcpsm.spec import GcpSmSpec
from syncret.providers.kit.auth.logins import ExpiringLogin

_FALLS_BACK: Final = "LatestOrFetch"


@asynccontextmanager
async def open_store(spec: GcpSmSpec, context: OpenContext) -> AsyncGenerator[GcpSmClient, None]:
    """A client that is logged in. Raises SyncError."""
    location = spec.location or ""
    async with open_login_context(context, location) as login_context:
        project = await project_of(spec.project_id, spec.auth, login_context)
        login = await choose_login(spec.auth, project, receivers(spec), login_context)
        tokens = ExpiringLogin(login, now=context.now, log_in=context.log_in)
        await tokens.get()
        falls_back = spec.secret_version_selection_policy == _FALLS_BACK
        api = Api(login_context.http, tokens, project, location)
        yield GcpSmClient(api, location, context.compute, falls_back=falls_back)
