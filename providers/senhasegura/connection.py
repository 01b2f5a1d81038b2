"""Opens a store: OAuth 2 with the application's client credentials."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn
from syncret.providers.kit.rest.logins import client_credentials
from syncret.providers.senhasegura.client import SenhaseguraClient
from syncret.providers.senhasegura.spec import SenhaseguraSpec
from syncret.providers.values import SecretBytes

_REFUSALS: Final = Refusals(vendor="senhasegura", check="does url lead to senhasegura, without a path?")


@asynccontextmanager
async def open_store(spec: SenhaseguraSpec, context: OpenContext) -> AsyncGenerator[SenhaseguraClient, None]:
    """A client that is logged in. Raises SyncError."""
    if spec.module != "DSM":
        raise Malformed(f"module {spec.module} of senhasegura is not supported", hint="write module: DSM")
    selector = spec.auth.client_secret_secret_ref
    secret = await read_trimmed(context, selector, "auth.clientSecretSecretRef")

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            return await client_credentials(
                http,
                "/iso/oauth2/token",
                spec.auth.client_id,
                secret,
                context.now,
                hint="check clientId and clientSecretSecretRef: is the authorization still active?",
            )

        return LoggedIn(log_in, context)

    tls = Tls(verify=not spec.ignore_ssl_certificate)
    async with connected(spec.url, context, identify, _REFUSALS, tls=tls) as api:
        yield SenhaseguraClient(api)
