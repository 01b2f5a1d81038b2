"""Opens a store: a token of Doppler, given or exchanged for that of a ServiceAccount."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.doppler.client import DopplerClient
from syncret.providers.doppler.spec import DopplerOidc, DopplerSpec
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders, Identity, LoggedIn
from syncret.providers.kit.rest.logins import account_jwt, log_in_with, token_until
from syncret.providers.values import SecretBytes

HOME: Final = "https://api.doppler.com"

_REFUSALS: Final = Refusals(
    vendor="Doppler", check="check project and config; a service token stands for both, and needs neither"
)


class _Login(msgspec.Struct):
    token: str
    expires_at: str


@asynccontextmanager
async def open_store(spec: DopplerSpec, context: OpenContext) -> AsyncGenerator[DopplerClient, None]:
    """A client that is logged in. Raises SyncError."""

    async def identify(http: Http) -> Identity:
        if spec.auth.oidc_config is not None:
            oidc = spec.auth.oidc_config
            return LoggedIn(lambda: _exchange(oidc, http, context), context)
        selector = None if spec.auth.secret_ref is None else spec.auth.secret_ref.doppler_token
        path = "auth.secretRef.dopplerToken"
        token = await read_text(context, selector, path, key="dopplerToken")
        return FixedHeaders(bearer(SecretBytes(token.encode())))

    async with connected(_base(), context, identify, _REFUSALS) as api:
        yield DopplerClient(spec, api, context.compute)


def _base() -> str:
    return ADDRESSES.get("DOPPLER_BASE_URL") or HOME


def _audience(context: OpenContext) -> str:
    """The audience of the store alone, as in the operator: what its users configure in Doppler."""
    if context.scope.cluster:
        return f"clusterSecretStore:{context.store.name}"
    return f"secretStore:{context.store.namespace}:{context.store.name}"


async def _exchange(oidc: DopplerOidc, http: Http, context: OpenContext) -> ExpiringValue[SecretBytes]:
    account = oidc.service_account_ref
    own = _audience(context)
    audiences = (*(account.audiences or (_base(),)), own)
    jwt = await account_jwt(
        context, msgspec.structs.replace(account, audiences=audiences), seconds=oidc.expiration_seconds
    )
    answer = await log_in_with(
        http,
        "/v3/auth/oidc",
        json_body({"identity": oidc.identity, "token": jwt}),
        doing="logging in to Doppler by oidcConfig",
        hint=f"check oidcConfig.identity: does it trust the issuer, the audience {own} and the subject?",
    )
    given = answer.decode(_Login)
    return token_until(given.token, given.expires_at, answer)
