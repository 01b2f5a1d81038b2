"""Opens a store: HTTP, a login, and a client that uses both."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import SyncError, Unavailable
from syncret.providers.gcpsm.api import Api
from syncret.providers.gcpsm.auth import choose_login, open_login_context, project_of
from syncret.providers.gcpsm.client import GcpSmClient
from syncret.providers.gcpsm.receivers import receivers
from syncret.providers.gcpsm.spec import GcpSmSpec
from syncret.providers.kit.auth.logins import ExpiringLogin
from syncret.providers.kit.google.errors import ELSEWHERE, error_of, is_absent
from syncret.providers.kit.google.tokens import Access
from syncret.providers.kit.http import Answer, NoAddress
from syncret.providers.kit.rest.api import Api as RestApi
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import Send

_FALLS_BACK: Final = "LatestOrFetch"


def _refused(answer: Answer, endpoint: Endpoint) -> SyncError | None:
    return error_of(answer, allow=endpoint.grant)


_REFUSALS: Final = Refusals(
    vendor="Google's API",
    check=ELSEWHERE,
    is_absent=is_absent,
    errors=dict.fromkeys((HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT), _refused),
)


class _Account:
    """The account of a store. A location without a server may be none of Google's."""

    def __init__(self, tokens: ExpiringLogin[Access], location: str) -> None:
        self._tokens = tokens
        self._unknown = f"is {location} a location of Google? see DNS, too" if location else "check DNS"

    async def send(self, send: Send, /) -> Answer:
        try:
            return await self._tokens.use(lambda access: send(access.headers))
        except NoAddress as error:
            raise Unavailable(error.message, hint=self._unknown, problem=error.problem) from None

    async def check(self) -> None:
        await self._tokens.get()

    async def end(self) -> None:
        """A token of Google cannot be revoked; it ends by itself."""


@asynccontextmanager
async def open_store(spec: GcpSmSpec, context: OpenContext) -> AsyncGenerator[GcpSmClient, None]:
    """A client that is logged in. Raises SyncError."""
    location = spec.location or ""
    async with open_login_context(context, location) as login_context:
        project = await project_of(spec.project_id, spec.auth, login_context)
        login = await choose_login(spec.auth, project, receivers(spec), login_context)
        account = _Account(ExpiringLogin(login, now=context.now, log_in=context.log_in), location)
        await account.check()
        api = Api(RestApi(login_context.http, account, _REFUSALS), project, location)
        falls_back = spec.secret_version_selection_policy == _FALLS_BACK
        yield GcpSmClient(api, location, context.compute, falls_back=falls_back)
