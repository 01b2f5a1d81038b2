"""Any HTTP API, described by templates of its requests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.webhook.client import WebhookClient
from syncret.providers.webhook.spec import WebhookSpec, depends_on_namespace, texts_of


@asynccontextmanager
async def open_webhook(spec: WebhookSpec, context: OpenContext) -> AsyncGenerator[WebhookClient, None]:
    """Open a client. Raises SyncError if a Secret is missing or not labelled for this use."""
    from syncret.providers.webhook.requests import open_api  # imports asyncio and TLS

    async with open_api(spec, context) as api:
        yield WebhookClient(spec, context, api)


_API: Final = ApiNames("Webhook", read="HTTPRequest", push="HTTPRequest", delete="HTTPRequest")

PROVIDER: Final = Provider(
    SpecType("webhook", WebhookSpec, texts=texts_of),
    open=open_webhook,
    by_namespace=depends_on_namespace,
    api_names=lambda _: _API,
)
