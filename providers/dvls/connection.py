"""Opens a store: an application logs in, and its token is good until the server ends it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.dvls.client import DvlsClient
from syncret.providers.dvls.spec import DvlsSpec
from syncret.providers.errors import Denied, Malformed
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


_DOING: Final = "logging in to Devolutions Server"
_HINT: Final = "check appId and appSecret: is the application still enabled?"


class _Login(msgspec.Struct, rename="camel"):
    """The answer to a login. A failed one may have a result instead of a token, with HTTP 200."""

    token_id: str | None = None
    result: int | None = None


@asynccontextmanager
async def open_store(spec: DvlsSpec, context: OpenContext) -> AsyncGenerator[DvlsClient, None]:
    """A client that is logged in. Raises SyncError."""
    ref = spec.auth.secret_ref
    key = await read_trimmed(context, ref.app_id, "auth.secretRef.appId")
    secret = await read_trimmed(context, ref.app_secret, "auth.secretRef.appSecret")

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            form = form_body({"AppKey": key, "AppSecret": secret})
            answer = await log_in_with(http, "/api/v1/login", form, doing=_DOING, hint=_HINT)
            return ExpiringValue(SecretBytes(_token(answer.decode(_Login)).encode()))

        async def log_out(token: SecretBytes) -> None:
            await http.request("POST", "/api/v1/logout", doing="logging out", headers=_header(token))

        return LoggedIn(log_in, context, headers=_header, sign_out=log_out)

    async with connected(spec.server_url, context, identify, _REFUSALS) as api:
        yield DvlsClient(spec.vault or "", api)


def _token(answer: _Login) -> str:
    if answer.token_id and answer.token_id != "null":
        return answer.token_id
    if answer.result is not None:
        raise Denied(f"{_DOING}: the login is refused (result {answer.result})", hint=_HINT)
    raise Malformed(f"{_DOING}: the answer has no token", hint="does serverUrl lead there?")


def _header(token: SecretBytes) -> Headers:
    return {"tokenId": token.raw.decode("ascii", "replace")}
