"""Opens a store: a token of the Connect server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders, Identity
from syncret.providers.onepassword.api import Vaults
from syncret.providers.onepassword.client import OnePasswordClient
from syncret.providers.onepassword.push import Pusher
from syncret.providers.onepassword.spec import OnePasswordSpec
from syncret.providers.values import SecretBytes


class _Failure(msgspec.Struct):
    status: int
    message: str


_REFUSALS: Final = Refusals(
    vendor="a Connect server",
    check="does connectHost lead to the Connect server, without /v1?",
    # an item is missing, and not its vault
    is_absent=says(_Failure, lambda failure: not failure.message.startswith("vault")),
)


@asynccontextmanager
async def open_store(spec: OnePasswordSpec, context: OpenContext) -> AsyncGenerator[OnePasswordClient, None]:
    """A client. Raises SyncError."""

    async def identify(_http: Http) -> Identity:
        selector = spec.auth.secret_ref.connect_token_secret_ref
        token = await read_text(context, selector, "auth.secretRef.connectTokenSecretRef")
        return FixedHeaders(bearer(SecretBytes(token.encode())))

    async with connected(spec.connect_host, context, identify, _REFUSALS) as api:
        vaults = Vaults(spec, api, context.now)
        yield OnePasswordClient(vaults, Pusher(vaults))
