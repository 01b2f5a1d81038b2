"""Opens a store: an access token in a header."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.rest.api import Refusals, is_no_page
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders
from syncret.providers.previder.client import PreviderClient
from syncret.providers.previder.spec import PreviderSpec

HOME: Final = "https://vault.previder.io"


_REFUSALS: Final = Refusals(vendor="Previder", check="check baseUri", is_absent=is_no_page)


@asynccontextmanager
async def open_store(spec: PreviderSpec, context: OpenContext) -> AsyncGenerator[PreviderClient, None]:
    """A client with the store's token. Raises SyncError."""
    selector = None if spec.auth.secret_ref is None else spec.auth.secret_ref.access_token
    token = await read_trimmed(context, selector, "auth.secretRef.accessToken")

    identity = FixedHeaders({"X-API-Key": token})
    async with connected(spec.base_uri or HOME, context, identity, _REFUSALS) as api:
        yield PreviderClient(api)
