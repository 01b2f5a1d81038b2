"""Opens a store: the public API or a gateway, and a login."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

import msgspec

from syncret.providers.akeyless.auth import login_of
from syncret.providers.akeyless.client import AkeylessClient
from syncret.providers.akeyless.receivers import HOME, base
from syncret.providers.akeyless.spec import AkeylessSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import SyncError
from syncret.providers.kit.http import Answer, Http, Tls, Unauthenticated
from syncret.providers.kit.references import ca_bundle
from syncret.providers.kit.rest.api import Refusals, denied, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import FixedHeaders

_ANYTHING: Final = (400, 401, 403, 404, 405)


class _Failure(msgspec.Struct):
    error: str


def _unauthorized(answer: Answer, endpoint: Endpoint) -> SyncError:
    """Akeyless says 401 of a role that may not do this, too: then a new login would not help.

    What it says of a token that has expired is not documented.
    """
    failure = answer.decode_if(_Failure)
    said = "" if failure is None else failure.error
    if "UnauthorizedAccess" in said and "expired" not in said:
        return denied(answer, endpoint)
    hint = "the credentials are wrong or expired: check what the store refers to"
    return Unauthenticated(f"{answer.doing}: HTTP 401 Unauthorized", hint=hint)


_REFUSALS: Final = Refusals(
    vendor="Akeyless",
    check="check akeylessGWApiURL: it must lead to the API of the gateway, not to its console",
    is_absent=says(_Failure),
    errors={HTTPStatus.UNAUTHORIZED: _unauthorized},
)


async def _api_at(url: str, tls: Tls, context: OpenContext) -> str:
    """The API's URL: the given one if it answers as the API does, else `/v2` below it."""
    if url == HOME or url.endswith("/v2"):
        return url
    async with Http(url, tls=tls, now=context.now, network=context.network) as http:
        answer = await http.request("POST", "", doing="looking for Akeyless' API", accept=_ANYTHING)
    return url if b"unknown command" in answer.body else f"{url}/v2"


@asynccontextmanager
async def open_store(spec: AkeylessSpec, context: OpenContext) -> AsyncGenerator[AkeylessClient, None]:
    """A client that is logged in. Raises SyncError."""
    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    url = await _api_at(base(spec), tls, context)
    identity = FixedHeaders({})  # the token is a member of each body
    async with connected(url, context, identity, _REFUSALS, tls=tls) as api:
        login = login_of(spec, api.http, context)
        await login.get()
        yield AkeylessClient(api, login, context.compute, ignores_cache=spec.ignore_cache)
