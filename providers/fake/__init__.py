"""The fake provider, whose values are in the manifest: for samples, tests and simulations only."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.fake.client import FakeClient
from syncret.providers.fake.manager import SecretManager
from syncret.providers.fake.spec import FakeSpec, check

_BATCH: Final = 1000


@asynccontextmanager
async def open_fake(spec: FakeSpec, context: OpenContext) -> AsyncGenerator[FakeClient, None]:
    """Open a client on this store's manager, seeded anew from the spec; pushed entries are kept."""
    manager = context.store_memory.setdefault("manager", SecretManager())
    manager.seed(spec.data)
    yield FakeClient(manager, context.compute, spec.validation_result)


PROVIDER: Final = Provider(
    SpecType("fake", FakeSpec, check=check, gjson_properties=True, maintained=False),
    open=open_fake,
    batch_size=_BATCH,
)
"""The fake provider. It is unmaintained upstream, so admission warns."""
