"""Opens a store: an API key in a header, and the passcode that never leaves the daemon."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.kit.references import read_text, read_trimmed
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders
from syncret.providers.onboardbase.client import OnboardbaseClient
from syncret.providers.onboardbase.spec import OnboardbaseSpec
from syncret.providers.values import SecretBytes

_REFUSALS: Final = Refusals(vendor="Onboardbase", check="check apiHost, project and environment")


@asynccontextmanager
async def open_store(spec: OnboardbaseSpec, context: OpenContext) -> AsyncGenerator[OnboardbaseClient, None]:
    """A client with the store's key. Raises SyncError."""
    key = await read_trimmed(context, spec.auth.api_key_ref, "auth.apiKeyRef")
    passcode = await read_text(context, spec.auth.passcode_ref, "auth.passcodeRef")

    async with connected(spec.api_host, context, FixedHeaders({"api_key": key}), _REFUSALS) as api:
        yield OnboardbaseClient(spec, api, SecretBytes(passcode.strip().encode()), context.compute)
