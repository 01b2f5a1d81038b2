"""Yandex Lockbox: secrets, each with several entries.

spec  the spec of a store, its rules     client  the endpoints, the client of a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.kit.yandex.spec import receivers
from syncret.providers.yandexlockbox.client import LockboxClient
from syncret.providers.yandexlockbox.spec import YandexLockboxSpec, check

_RECEIVERS: Final = receivers("yandexlockbox")


@asynccontextmanager
async def open_lockbox(spec: YandexLockboxSpec, context: OpenContext) -> AsyncGenerator[LockboxClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.kit.yandex.connection import connected_to  # imports asyncio and TLS

    services = ("lockbox-payload", "lockbox")
    async with connected_to(services, spec, context, _RECEIVERS(spec)) as (api, addresses):
        yield LockboxClient(api, addresses["lockbox"], spec.folder)


PROVIDER: Final = Provider(
    SpecType("yandexlockbox", YandexLockboxSpec, check=check), open=open_lockbox, receivers=_RECEIVERS
)
