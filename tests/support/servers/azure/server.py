"""Azure, as far as Key Vault, registries and the resource manager go, on loopback: plain, and with TLS.

async with azure() as cloud:
    application = cloud.member("reader", secret="s3cret")
"""

import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.support.faults import Faulty
from tests.support.served import served
from tests.support.servers.azure.directory import Application, Directory
from tests.support.servers.azure.key_vault import KeyVault
from tests.support.servers.azure.machine import Machine
from tests.support.servers.azure.management import Management
from tests.support.servers.azure.registry import Registry
from tests.support.tls import Authority


class Azure(Faulty):
    """The running server, and what stands behind it: all services are at one address."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.directory = Directory(now)
        self.vault = KeyVault(self.directory, now)
        self.machine = Machine(self.directory)
        self.registry = Registry(self.directory)
        self.management = Management(self.directory)
        self.url = ""
        self.secure_url = ""
        """With TLS, as Azure's own clients and container registries insist."""
        self.authority = Authority()
        self.bundle = ""
        """The file that holds it, for those who trust by file."""

    @property
    def host(self) -> str:
        """Of the address with TLS."""
        return self.secure_url.removeprefix("https://")

    def member(self, name: str, *, secret: str = "") -> Application:
        """An application that may do everything in the vault, the registry and the resource manager."""
        made = self.directory.register(name, secret=secret)
        self.vault.members.add(made.client_id)
        self.registry.members.add(made.client_id)
        self.management.members.add(made.client_id)
        return made

    def app(self) -> web.Application:
        @web.middleware
        async def closing(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = await handler(request)
            if request.secure:
                answer.force_close()  # Azure's clients would keep connections open beyond their test
            return answer

        rooms = (self.management, self.vault, self.registry, self.machine, self.directory)
        app = self.application(*(room.routes() for room in rooms))
        app.middlewares.insert(0, closing)
        return app


@asynccontextmanager
async def azure(now: Callable[[], float] = time.time) -> AsyncGenerator[Azure, None]:
    """Azure with one empty vault."""
    cloud = Azure(now)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tls = cloud.authority.server(folder)
        (folder / "ca.pem").write_bytes(cloud.authority.pem)
        cloud.bundle = str(folder / "ca.pem")
        async with served(cloud.app()) as cloud.url, served(cloud.app(), tls) as cloud.secure_url:
            yield cloud
