"""Opens a store: an application logs in, and its token is good until the server ends it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.dvls.client import DvlsClient
from syncret.providers.dvls.spec import DvlsSpec
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http, form_body
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Headers, Identity, LoggedIn
from syncret.providers.kit.rest.logins import log_in_with
from syncret.providers.values import SecretBytes

_REFUSALS: Final = Refusals(
    vendor="Devolutions Server",
    check="does serverUrl lead to Devolutions Server?",
    is_absent=lambda _answer: True,  # the client makes sure that the vault is there
)


class _Login(msgspec.Struct, rename={"token_id": "tokenId"}):
    token_id: str = ""


@asynccontextmanager
async def open_store(spec: DvlsSpec, context: OpenContext) -> AsyncGenerator[DvlsClient, None]:
    """A client that is logged in. Raises SyncError."""
    ref = spec.auth.secret_ref
    key = await read_trimmed(context, ref.app_id, "auth.secretRef.appId")
    secret = await read_trimmed(context, ref.app_secret, "auth.secretRef.appSecret")

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            doing = "logging in to Devolutions Server"
            answer = await log_in_with(
                http,
                "/api/v1/login",
                form_body({"AppKey": key, "AppSecret": secret}),
                doing=doing,
                hint="check appId and appSecret: is the application still enabled?",
            )
            token = answer.decode(_Login).token_id
            if not token:
                raise Malformed(f"{doing}: the answer has no token", hint="does serverUrl lead there?")
            return ExpiringValue(SecretBytes(token.encode()))

        return LoggedIn(log_in, context, headers=_header)

    async with connected(spec.server_url, context, identify, _REFUSALS) as api:
        yield DvlsClient(spec.vault or "", api)


def _header(token: SecretBytes) -> Headers:
    return {"tokenId": token.raw.decode("ascii", "replace")}
