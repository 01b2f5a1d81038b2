"""IBM Cloud, as far as a client of Secrets Manager meets it, on a free port of loopback.

async with ibm() as cloud:
    key = cloud.service("reader")
"""

import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.servers.ibm.errors import IamError, IbmError
from tests.servers.ibm.identity import Identity, Profile
from tests.servers.ibm.secrets_manager import SecretsManager
from tests.support.served import served

Fault: TypeAlias = Callable[[web.Request], web.StreamResponse | None]
"""What a request is answered in the server's place; None lets it pass."""


class Ibm:
    """The running server, and what stands behind it. IAM and Secrets Manager share its address."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.identity = Identity(now)
        self.manager = SecretsManager(self.identity, now)
        self.url = ""
        self._fault: Fault = lambda _request: None

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

    @contextmanager
    def failing(self, fault: Fault) -> Generator[None, None, None]:
        """Every request asks this first, for as long as the block lasts."""
        before, self._fault = self._fault, fault
        try:
            yield
        finally:
            self._fault = before

    def app(self) -> web.Application:
        @web.middleware
        async def edge(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = self._fault(request)
            if answer is not None:
                return answer
            try:
                return await handler(request)
            except (IbmError, IamError) as error:
                return error.response()

        app = web.Application(client_max_size=64 * 2**20, middlewares=[edge])
        app.router.add_routes([*self.identity.routes(), *self.manager.routes()])
        return app


@asynccontextmanager
async def ibm(now: Callable[[], float] = time.time) -> AsyncGenerator[Ibm, None]:
    """One empty instance of Secrets Manager, and IAM."""
    cloud = Ibm(now)
    async with served(cloud.app()) as url:
        cloud.url = url
        yield cloud
