"""Opens a store: an API key."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders
from syncret.providers.ngrok.client import NgrokClient
from syncret.providers.ngrok.spec import NgrokSpec
from syncret.providers.values import SecretBytes

_VERSION: Final = {"ngrok-version": "2"}


class _Failure(msgspec.Struct):
    error_code: str


_REFUSALS: Final = Refusals(
    vendor="ngrok",
    check="check apiUrl",
    is_absent=says(_Failure, lambda failure: failure.error_code.startswith("ERR_NGROK_")),
)


@asynccontextmanager
async def open_store(spec: NgrokSpec, context: OpenContext) -> AsyncGenerator[NgrokClient, None]:
    """A client with the store's key. Raises SyncError."""
    selector = None if spec.auth.api_key is None else spec.auth.api_key.secret_ref
    key = await read_text(context, selector, "auth.apiKey.secretRef")

    identity = FixedHeaders({**bearer(SecretBytes(key.encode())), **_VERSION})
    async with connected(spec.api_url, context, identity, _REFUSALS) as api:
        yield NgrokClient(spec.vault.name, api, context.compute)
