"""The spec of a provider, from what a manifest says."""

from typing import TypeVar

import msgspec

from syncret.config.fields import Model
from syncret.config.meta import Document
from syncret.providers.contract import Provider

M = TypeVar("M", bound=Model)


def spec_of(provider: Provider[M], document: Document) -> M:
    """As `spec.provider.<name>` of a store."""
    return msgspec.convert(document, provider.spec.model)
