"""A store whose values stand in its own manifest: for samples, tests and simulations, not for secrets."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.fake.client import FakeClient
from syncret.providers.fake.manager import SecretManager, Seed
from syncret.providers.fake.spec import FakeSpec, check

_BATCH: Final = 1000


@asynccontextmanager
async def open_fake(spec: FakeSpec, context: OpenContext) -> AsyncGenerator[FakeClient, None]:
    """A client on the manager of this store, seeded anew from the spec; what was pushed is still there."""
    manager = context.store_memory.setdefault("manager", SecretManager())
    manager.seed(Seed(entry.key, entry.value, entry.version) for entry in spec.data)
    yield FakeClient(manager, spec.validation_result)


PROVIDER: Final = Provider(
    SpecType("fake", FakeSpec, check=check, maintained=False), open=open_fake, batch_size=_BATCH
)
"""The embedded store. Nobody maintains it upstream, which admission warns of."""
