"""Yandex Lockbox: secrets, each with several entries.

spec  the spec of a store, its rules     client  the endpoints, the client of a store
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider, Receiver
from syncret.providers.kit.yandex.spec import receivers as receivers_of
from syncret.providers.yandexlockbox.client import LockboxClient
from syncret.providers.yandexlockbox.spec import YandexLockboxSpec, check


@asynccontextmanager
async def open_lockbox(spec: YandexLockboxSpec, context: OpenContext) -> AsyncGenerator[LockboxClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.kit.yandex.connection import connected_to  # imports asyncio and TLS

    services = ("lockbox-payload", "lockbox")
    async with connected_to(services, spec, context, receivers(spec)) as (api, addresses):
        yield LockboxClient(api, addresses["lockbox"], spec.folder)


def receivers(spec: YandexLockboxSpec) -> Iterator[Receiver]:
    """The receivers of the machine's own token."""
    return receivers_of("yandexlockbox", spec)


PROVIDER: Final = Provider(
    SpecType("yandexlockbox", YandexLockboxSpec, check=check), open=open_lockbox, receivers=receivers
)
