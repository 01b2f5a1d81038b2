"""Any HTTP API, described by templates of its requests."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.webhook.spec import WebhookSpec

PROVIDER: Final = Provider(SpecType("webhook", WebhookSpec))
