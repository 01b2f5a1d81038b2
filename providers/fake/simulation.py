"""Replaces providers in a simulation: by a secret manager in memory, or by an unreachable one."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from msgspec.structs import replace

from syncret.config.fields import Model
from syncret.providers import fake
from syncret.providers.contract import Client, OpenContext, Provider
from syncret.providers.errors import Malformed
from syncret.providers.fake.client import FakeClient
from syncret.providers.fake.manager import SecretManager, Seed


def simulated(provider: Provider[Any], seeds: Iterable[Seed] | None) -> Provider[Any]:
    """The provider of a store in a simulation; it opens no connection.

    The fake provider stays as it is. Any other is served from `seeds`; without seeds it is unreachable, as
    from a machine without a network.
    """
    if provider is fake.PROVIDER:
        return provider
    if seeds is None:
        return replace(provider, open=_unreachable)
    entries = tuple(seeds)

    @asynccontextmanager
    async def serve(_spec: Model, context: OpenContext) -> AsyncGenerator[Client, None]:
        yield FakeClient(context.store_memory.setdefault("manager", SecretManager(entries)), context.compute)

    return replace(provider, open=serve, batch_size=fake.PROVIDER.batch_size)


def _unreachable(_spec: Model, context: OpenContext) -> AbstractAsyncContextManager[Client]:
    raise Malformed(
        f"{context.store} is not part of the simulation",
        hint="give its values in spec.providers of the scenario",
    )
