"""Identities that call an API: the headers of every request, and the reaction to a refused one."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Protocol, TypeAlias

from syncret.providers.contract import LogIn
from syncret.providers.errors import SyncError
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue, bearer
from syncret.providers.kit.http import Answer
from syncret.providers.values import SecretBytes

Headers: TypeAlias = Mapping[str, str]


class Send(Protocol):
    """A request that waits for the headers of an identity; its members are what a signature covers."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str:
        """Below the base of the API, quoted, without its query."""
        ...

    @property
    def content(self) -> bytes:
        """The body."""
        ...

    @property
    def headers(self) -> Headers:
        """The headers of the call itself."""
        ...

    async def __call__(self, headers: Headers, /) -> Answer:
        """The answer. Raises SyncError."""
        ...


class Identity(Protocol):
    """Sends requests in its own name."""

    async def send(self, send: Send, /) -> Answer:
        """The answer to a request with its headers. Raises SyncError."""
        ...

    async def check(self) -> None:
        """Log in, if there is a login. Raises SyncError."""
        ...

    async def end(self) -> None:
        """Log out, if there is a login; a failure is ignored."""
        ...


class LoginContext(Protocol):
    """The part of an OpenContext that a login needs."""

    @property
    def now(self) -> Callable[[], float]: ...
    @property
    def log_in(self) -> LogIn: ...


class FixedHeaders:
    """The same headers in every request: a static token."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    async def send(self, send: Send, /) -> Answer:
        return await send(self._headers)

    async def check(self) -> None:
        """There is no login: the first call shows whether the headers are accepted."""

    async def end(self) -> None:
        """A static token stays valid."""


class LoggedIn:
    """A login that expires. It is renewed before that, and once if a call is refused with 401.

    Args:
        login: logs in. Raises SyncError; Denied if it is refused.
        headers: those of its token.
        sign_out: ends the session that the login began, for managers that count them.
    """

    def __init__(
        self,
        login: Callable[[], Awaitable[ExpiringValue[SecretBytes]]],
        context: LoginContext,
        *,
        headers: Callable[[SecretBytes], Headers] = bearer,
        sign_out: Callable[[SecretBytes], Awaitable[object]] | None = None,
    ) -> None:
        self._login = ExpiringLogin(login, now=context.now, log_in=context.log_in)
        self._headers = headers
        self._sign_out = sign_out

    async def send(self, send: Send, /) -> Answer:
        return await self._login.use(lambda token: send(self._headers(token)))

    async def check(self) -> None:
        await self._login.get()

    async def end(self) -> None:
        token = self._login.current
        if self._sign_out is not None and token is not None:
            with suppress(SyncError):  # the manager ends it by itself, later
                await self._sign_out(token)
