"""Opens a store: an API token, for one site."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.beyondtrustworkloadcredentials.client import WorkloadCredentialsClient
from syncret.providers.beyondtrustworkloadcredentials.spec import BeyondTrustWorkloadCredentialsSpec
from syncret.providers.contract import OpenContext
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls, segments
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.rest.api import Api, Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders
from syncret.providers.values import SecretBytes

_VERSION: Final = {"bt-secrets-api-version": "2026-04-28"}


class _Failure(msgspec.Struct):
    """BeyondTrust's own clients look for one or the other."""

    error: str = ""
    code: str = ""


_REFUSALS: Final = Refusals(
    vendor="BeyondTrust",
    check="check server.apiUrl and siteId: does the URL lead to the API of Workload Credentials?",
    is_absent=says(_Failure, lambda failure: bool(failure.error or failure.code)),
)


@asynccontextmanager
async def opened_api(
    spec: BeyondTrustWorkloadCredentialsSpec, context: OpenContext
) -> AsyncGenerator[Api, None]:
    """The API of the site, with the token of the spec. Raises SyncError."""
    token = await read_text(context, spec.auth.apikey.token, "auth.apikey.token", key="token")

    url = f"{spec.server.api_url.rstrip('/')}/{segments(spec.server.site_id)}/secrets"
    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    identity = FixedHeaders({**bearer(SecretBytes(token.encode())), **_VERSION})
    async with connected(url, context, identity, _REFUSALS, tls=tls) as api:
        yield api


@asynccontextmanager
async def open_store(
    spec: BeyondTrustWorkloadCredentialsSpec, context: OpenContext
) -> AsyncGenerator[WorkloadCredentialsClient, None]:
    """A client with the store's token. Raises SyncError."""
    async with opened_api(spec, context) as api:
        yield WorkloadCredentialsClient(api, spec.folder_path or "")
