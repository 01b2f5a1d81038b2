"""The socket on which systemd asks for credentials: passed by systemd itself, or bound by a setting."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncret.config.settings import Settings
from syncret.daemon.ops.bind_errors import CannotListen
from syncret.daemon.ops.control import listening_at
from syncret.daemon.ops.notify import Notifier
from syncret.daemon.ops.view import Serve, View

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.delivery.credentials.offers import Offers
    from syncret.daemon.delivery.credentials.server import Request

NAME: Final = "credentials"
"""FileDescriptorName= of the socket unit."""

_KEPT: Final = "asked-"
_FIRST_PASSED: Final = 3
_ELSEWHERE: Final = "choose another with the setting credentialSocket, or none"


class CredentialSocket:
    """The socket, over all runs of the daemon."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        passed = passed_sockets(environ)
        self._passed = next((each for name, each in passed if name == NAME), None)
        self._kept = [(name, each) for name, each in passed if name != NAME]
        self._keeper = Notifier.from_environ(environ)
        self.left: list[Request] = []
        """Requests that waited when the last run ended."""

    def offers(self, settings: Settings) -> "Offers | None":
        """What Deliveries offer there in one run; None without a socket."""
        if self._passed is None and not settings.credential_socket:
            return None
        from syncret.daemon.delivery.credentials.offers import Offers  # as above

        return Offers()

    @asynccontextmanager
    async def service(self, settings: Settings) -> AsyncGenerator[Serve, None]:
        """Listen until the block is left. Raises CannotListen."""
        if self._passed is not None:
            yield lambda view: self._serving(self._passed, view)
        elif settings.credential_socket:
            with listening_at(Path(settings.credential_socket), hint=_ELSEWHERE) as listener:
                yield lambda view: self._serving(listener, view)
        else:
            yield lambda _: nullcontext()

    def close(self) -> None:
        """Refuse all requests that wait: the process ends."""
        if self.left:
            from syncret.daemon.delivery.credentials.server import refuse_all  # as above

            refuse_all(self.left)
            for request in self.left:
                self._keeper.forget(request.name)

    @asynccontextmanager
    async def _serving(self, listener: socket.socket | None, view: View) -> AsyncGenerator[None, None]:
        from syncret.daemon.delivery.credentials.server import CredentialServer  # as above

        offers = view.offers
        if listener is None or offers is None:
            raise CannotListen("there is no socket for credentials", hint=_ELSEWHERE)
        wait = view.settings.credential_wait
        left = self.left + self._restored(wait)
        server = CredentialServer(listener, offers, wait=wait, left=left, keeper=self._keeper)
        self.left = []
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(server.serve(), name="credentials")
                completing = group.create_task(_complete(view, offers), name="credentials: first pass")
                try:
                    yield
                finally:
                    completing.cancel()
                    server.stop()
        finally:
            self.left = server.left

    def _restored(self, wait: float) -> "list[Request]":
        """The requests that waited when the previous process died."""
        if not self._kept:
            return []
        from syncret.daemon.delivery.credentials.server import Request  # as above

        deadline = asyncio.get_running_loop().time() + wait
        kept, self._kept = self._kept, []
        for _, connection in kept:
            connection.settimeout(0)
        return [Request(connection=each, deadline=deadline, name=name) for name, each in kept]


async def _complete(view: View, offers: "Offers") -> None:
    await view.running.engine.first_pass.wait()
    offers.complete()


def passed_sockets(environ: Mapping[str, str]) -> list[tuple[str, socket.socket]]:
    """The sockets that systemd has passed to this process, with their names: ours, and what it kept."""
    if environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    names = environ.get("LISTEN_FDNAMES", "").split(":")
    found: list[tuple[str, socket.socket]] = []
    for fd, name in enumerate(names, _FIRST_PASSED):
        if name == NAME or name.startswith(_KEPT):
            os.set_inheritable(fd, False)  # noqa: FBT003  # takes no keywords
            found.append((name, socket.socket(fileno=fd)))
    return found
