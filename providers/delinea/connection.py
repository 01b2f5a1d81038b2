"""Opens a store: an address made of the tenant, and OAuth 2 with client credentials in JSON."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.delinea.client import DelineaClient
from syncret.providers.delinea.spec import DelineaSpec
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_given
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn
from syncret.providers.kit.rest.logins import camel_token, log_in_with
from syncret.providers.values import SecretBytes

TEMPLATE: Final = "https://%s.secretsvaultcloud.%s/v1/%s%s"
_PLACES: Final = 2
"""Before those of resource and path: for the tenant, and for the last part of the host."""


class _Failure(msgspec.Struct):
    message: str
    code: int = 0


_REFUSALS: Final = Refusals(
    vendor="DevOps Secrets Vault",
    check="check tenant and tld, or urlTemplate",
    # a page of another server has no message
    is_absent=says(_Failure, lambda failure: "unable to find item" in failure.message),
)


def base_of(spec: DelineaSpec) -> str:
    """The address that resources stand below. Raises Malformed for a template that has another form."""
    start, *parts = (spec.url_template or TEMPLATE).removesuffix("%s%s").split("%s")
    if len(parts) != _PLACES or not (spec.url_template or TEMPLATE).endswith("%s%s"):
        raise Malformed(
            "urlTemplate must take tenant, top-level domain, resource and path, in this order",
            hint=f"write one such as {TEMPLATE}",
        )
    return f"{start}{spec.tenant}{parts[0]}{spec.tld or 'com'}{parts[1]}".rstrip("/")


@asynccontextmanager
async def open_store(spec: DelineaSpec, context: OpenContext) -> AsyncGenerator[DelineaClient, None]:
    """A client that is logged in. Raises SyncError."""
    halves = {
        "client_id": await read_given(context, spec.client_id, "clientId"),
        "client_secret": await read_given(context, spec.client_secret, "clientSecret"),
    }

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            answer = await log_in_with(
                http,
                "/token",
                json_body({"grant_type": "client_credentials", **halves}),
                doing="logging in to DevOps Secrets Vault",
                hint="check clientId and clientSecret: does the client still exist in this tenant?",
            )
            return camel_token(answer, context.now)

        return LoggedIn(log_in, context)

    async with connected(base_of(spec), context, identify, _REFUSALS) as api:
        yield DelineaClient(api)
