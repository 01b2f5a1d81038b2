"""Opens a store: the SDK server, which logs in to Bitwarden with the token of each request."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.bitwardensecretsmanager.client import BitwardenClient
from syncret.providers.bitwardensecretsmanager.spec import BitwardenSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.http import Answer, Tls
from syncret.providers.kit.references import ca_bundle, read_trimmed
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import FixedHeaders

_TOKEN: Final = "check auth.secretRef.credentials, and apiURL and identityURL: does the token belong there?"


def _refused(answer: Answer, endpoint: Endpoint) -> SyncError:
    """The error for a 400 of the SDK server, whose text has the status of Bitwarden's refusal."""
    words = answer.body
    if b"[429 " in words:
        return Throttled(f"{answer.doing}: Bitwarden allows fewer calls")
    if b"error sending request" in words or b"[5" in words:
        return Unavailable(f"{answer.doing}: the SDK server does not reach Bitwarden")
    if b"failed to login" in words or b"[401 " in words:
        return Denied(f"{answer.doing}: Bitwarden refuses the access token", hint=_TOKEN)
    if b"[403 " in words or b"[404 " in words:
        return Denied(f"{answer.doing}: permission denied", hint=f"{endpoint.grant}; check organizationID")
    return Malformed(f"{answer.doing}: the SDK server refuses the request", hint="its log says why")


_REFUSALS: Final = Refusals(
    vendor="the SDK server",
    check="check bitwardenServerSDKURL, and the version of the SDK server",
    errors={400: _refused, 500: _refused},
)


@asynccontextmanager
async def open_store(spec: BitwardenSpec, context: OpenContext) -> AsyncGenerator[BitwardenClient, None]:
    """A client with the store's token. Raises SyncError."""
    selector = spec.auth.secret_ref.credentials
    token = await read_trimmed(context, selector, "auth.secretRef.credentials", key="token")
    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    headers = {
        "Warden-Access-Token": token,
        "Warden-Api-Url": (spec.api_url or "").rstrip("/"),
        "Warden-Identity-Url": (spec.identity_url or "").rstrip("/"),
    }

    url = (spec.bitwarden_server_sdk_url or "").rstrip("/")
    async with connected(url, context, FixedHeaders(headers), _REFUSALS, tls=tls) as api:
        yield BitwardenClient(spec, api, context.compute)
