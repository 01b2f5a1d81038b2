"""Identities that sign every request with an access key, which may be a temporary one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.identities import Headers, LoginContext, Send


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An access key, with a token if it is a temporary one."""

    id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)


Sign: TypeAlias = Callable[[Send, AccessKey], Headers]
"""Returns the headers that sign a request. The clock must be right to some minutes."""


class SignedRequests:
    """An identity that signs.

    Args:
        login: gives the access key.
        sign: the vendor's signature.
    """

    def __init__(
        self, login: Callable[[], Awaitable[ExpiringValue[AccessKey]]], context: LoginContext, sign: Sign
    ) -> None:
        self._login = ExpiringLogin(login, now=context.now, log_in=context.log_in)
        self._sign = sign

    async def send(self, send: Send, /) -> Answer:
        return await self._login.use(lambda key: send(self._sign(send, key)))

    async def check(self) -> None:
        await self._login.get()

    async def end(self) -> None:
        """There is no session."""
