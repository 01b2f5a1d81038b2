"""Opens a store: the API key of an app."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.fortanix.client import FortanixClient
from syncret.providers.fortanix.spec import FortanixSpec
from syncret.providers.kit.http import Answer, Http
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import FixedHeaders, Identity

HOME: Final = "https://sdkms.fortanix.com"


def _not_found(answer: Answer, endpoint: Endpoint) -> Malformed:
    del endpoint
    return Malformed(
        f"{answer.doing}: HTTP 404: there is no such object, or the app may not see it",
        hint="check the key, the groups of the app, and apiUrl",
    )


_REFUSALS: Final = Refusals(vendor="Fortanix", check="check apiUrl", errors={404: _not_found})


@asynccontextmanager
async def open_store(spec: FortanixSpec, context: OpenContext) -> AsyncGenerator[FortanixClient, None]:
    """A client with the app's key. Raises SyncError."""
    selector = None if spec.api_key is None else spec.api_key.secret_ref
    key = (await read_text(context, selector, "apiKey.secretRef")).strip()

    async def identify(_http: Http) -> Identity:
        return FixedHeaders({"Authorization": f"Basic {key}"})

    async with connected(spec.api_url or HOME, context, identify, _REFUSALS) as api:
        yield FortanixClient(api)
