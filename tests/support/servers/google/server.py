"""Google, as far as a client of Secret Manager meets it, on free ports of loopback.

async with google() as cloud:
    email = cloud.identity.account("reader")
    key = cloud.identity.key_json(email)
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from tests.support.faults import Faulty
from tests.support.served import served
from tests.support.servers.google.identity import Identity
from tests.support.servers.google.logins import Logins
from tests.support.servers.google.metadata import Machine
from tests.support.servers.google.secret_manager import SecretManager

REGIONS = ("us-east1",)


class Google(Faulty):
    """The running servers, and what stands behind them."""

    def __init__(self, now: Callable[[], float], regions: Sequence[str]) -> None:
        super().__init__()
        self.identity = Identity(now)
        self.logins = Logins(self.identity)
        self.machine = Machine(self.identity)
        self.managers = {place: SecretManager(self.identity, now, place) for place in ("", *regions)}
        self.urls: Mapping[str, str] = {}
        """Of Secret Manager, by location; at the global one are the token endpoints too."""

    @property
    def url(self) -> str:
        return self.urls[""]

    @property
    def host(self) -> str:
        """As GCE_METADATA_HOST wants it."""
        return self.url.removeprefix("http://")

    @property
    def manager(self) -> SecretManager:
        """The one of global secrets."""
        return self.managers[""]

    def app(self, place: str) -> web.Application:
        logins = () if place else (self.logins.routes(), self.machine.routes())
        return self.application(*logins, self.managers[place].routes())


@asynccontextmanager
async def google(
    now: Callable[[], float] = time.time, regions: Sequence[str] = REGIONS
) -> AsyncGenerator[Google, None]:
    """Google with one empty project, `acme`."""
    cloud = Google(now, regions)
    async with AsyncExitStack() as stack:
        cloud.urls = {
            place: await stack.enter_async_context(served(cloud.app(place))) for place in cloud.managers
        }
        cloud.identity.url = cloud.url
        yield cloud
