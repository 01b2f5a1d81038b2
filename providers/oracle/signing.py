"""Signs each request as Oracle has it."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.auth.oracle_requests import Signer, signature
from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.identities import Headers, LoginContext, Send


class SignedRequests:
    """An identity that signs. A signature is good for five minutes, so the clock must be right.

    Args:
        login: gives the signer.
        url: the service that paths are below.
    """

    def __init__(
        self, login: Callable[[], Awaitable[ExpiringValue[Signer]]], context: LoginContext, url: str
    ) -> None:
        self._login = ExpiringLogin(login, now=context.now, log_in=context.log_in)
        self._now = context.now
        self._host = urlsplit(url).netloc

    async def send(self, send: Send, /) -> Answer:
        return await self._login.use(lambda signer: send(self._headers(signer, send)))

    async def check(self) -> None:
        await self._login.get()

    async def end(self) -> None:
        """There is no session to end: a token expires."""

    def _headers(self, signer: Signer, send: Send) -> Headers:
        target = urlsplit(send.path)
        path = f"{target.path}?{target.query}" if target.query else target.path
        return signature(signer, send.method, path, target.netloc or self._host, send.content, self._now)
