"""Opens a store: the API key of an app."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.fortanix.client import FortanixClient
from syncret.providers.fortanix.spec import FortanixSpec
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.rest.api import Refusals, is_no_page
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders

HOME: Final = "https://sdkms.fortanix.com"


_REFUSALS: Final = Refusals(vendor="Fortanix", check="check apiUrl", is_absent=is_no_page)


@asynccontextmanager
async def open_store(spec: FortanixSpec, context: OpenContext) -> AsyncGenerator[FortanixClient, None]:
    """A client with the app's key. Raises SyncError."""
    selector = None if spec.api_key is None else spec.api_key.secret_ref
    key = await read_trimmed(context, selector, "apiKey.secretRef")

    identity = FixedHeaders({"Authorization": f"Basic {key}"})
    async with connected(spec.api_url or HOME, context, identity, _REFUSALS) as api:
        yield FortanixClient(api)
