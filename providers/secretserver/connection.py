"""Opens a store: a token, or a login to Secret Server or to the platform that it is part of."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Answer, Http, Tls
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.rest.api import Refusals, denied
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import FixedHeaders, Identity, LoggedIn
from syncret.providers.kit.rest.logins import already_made
from syncret.providers.secretserver.client import SecretServerClient
from syncret.providers.secretserver.login import Account, is_platform, platform_token, server_token, vault_of
from syncret.providers.secretserver.push import Pusher
from syncret.providers.secretserver.secrets import Secrets
from syncret.providers.secretserver.spec import SecretServerRef, SecretServerSpec
from syncret.providers.values import SecretBytes

_DENIED: Final = "API_AccessDenied"


class _Failure(msgspec.Struct, rename="camel"):
    error_code: str = ""


def _refused(answer: Answer, endpoint: Endpoint) -> SyncError:
    """Secret Server says "bad request" of what is not permitted, too."""
    failure = answer.decode_if(_Failure)
    if failure is not None and failure.error_code == _DENIED:
        return denied(answer, endpoint)
    return Malformed(f"{answer.doing}: HTTP 400 Bad Request", hint="see Secret Server's log for the reason")


_REFUSALS: Final = Refusals(
    vendor="Secret Server",
    check="does serverURL lead to Secret Server?",
    is_absent=lambda answer: answer.decode_if(dict[str, object]) is not None,
    errors={400: _refused},
)


@asynccontextmanager
async def open_store(
    spec: SecretServerSpec, context: OpenContext
) -> AsyncGenerator[SecretServerClient, None]:
    """A client that is logged in. Raises SyncError."""
    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    async with Http(spec.server_url, tls=tls, now=context.now, network=context.network) as entrance:
        url, identity = await _identity(spec, entrance, context)

        async with connected(url, context, identity, _REFUSALS, tls=tls) as api:
            secrets = Secrets(api)
            yield SecretServerClient(secrets, Pusher(secrets))


async def _identity(spec: SecretServerSpec, http: Http, context: OpenContext) -> tuple[str, Identity]:
    """The URL of Secret Server, and the store's identity there."""
    if spec.token is not None:
        token = await _text(spec.token, "token", context)
        return spec.server_url, FixedHeaders(bearer(SecretBytes(token.encode())))
    user = await _text(spec.username, "username", context)
    account = Account(user.strip(), await _text(spec.password, "password", context), spec.domain)
    if not await is_platform(http):
        return spec.server_url, LoggedIn(partial(server_token, http, account, context.now), context)
    login = partial(platform_token, http, account, context.now)
    first = await context.log_in(login)
    return await vault_of(http, first.value), LoggedIn(already_made(first, login), context)


async def _text(ref: SecretServerRef | None, path: str, context: OpenContext) -> str:
    if ref is not None and ref.value:
        return ref.value
    return await read_text(context, None if ref is None else ref.secret_ref, f"{path}.secretRef")
