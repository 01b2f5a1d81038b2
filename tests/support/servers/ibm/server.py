"""IBM Cloud, as far as a client of Secrets Manager meets it, on a free port of loopback.

async with ibm() as cloud:
    key = cloud.service("reader")
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from tests.support.faults import Faulty
from tests.support.served import served
from tests.support.servers.ibm.identity import Identity, Profile
from tests.support.servers.ibm.secrets_manager import SecretsManager


class Ibm(Faulty):
    """The running server, and what stands behind it. IAM and Secrets Manager share its address."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.identity = Identity(now)
        self.manager = SecretsManager(self.identity, now)
        self.url = ""

    def service(self, name: str, groups: Sequence[str] | None = None) -> str:
        """A new API key of a service id that may work in these groups (None: in all)."""
        self.manager.members[f"iam-ServiceId-{name}"] = None if groups is None else set(groups)
        return self.identity.api_key(f"iam-ServiceId-{name}")

    def profile(self, name: str, *links: tuple[str, str, str]) -> Profile:
        """A new trusted profile that may do all, for ServiceAccounts (cluster, namespace, name)."""
        profile = self.identity.profile(name)
        profile.links.update(links)
        self.manager.members[f"iam-{profile.id}"] = None
        return profile

    def app(self) -> web.Application:
        return self.application(self.identity.routes(), self.manager.routes())


@asynccontextmanager
async def ibm(now: Callable[[], float] = time.time) -> AsyncGenerator[Ibm, None]:
    """One empty instance of Secrets Manager, and IAM."""
    cloud = Ibm(now)
    async with served(cloud.app()) as cloud.url:
        yield cloud
