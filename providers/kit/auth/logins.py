"""Logins that expire: one login for all callers, renewed before it expires, dropped when a call is refused.

self._token = ExpiringLogin(self._login, now=context.now, log_in=context.log_in)
answer = await self._token.use(lambda token: http.request("GET", path, doing=..., headers=bearer(token)))
"""

import asyncio
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final, Generic, TypeVar

from syncret.providers.contract import LogIn
from syncret.providers.errors import SyncError
from syncret.providers.kit.http.answers import Unauthenticated
from syncret.providers.kit.retry import Doubling
from syncret.providers.values import SecretBytes

T = TypeVar("T")
R = TypeVar("R")

_MARGIN: Final = 60.0
"""Seconds before the expiry at which a login is renewed; a fifth of its lifetime if that is shorter."""

_AT_LEAST: Final = 10.0
"""Seconds for which a new login is used, even if it has expired already by our clock, which may be ahead."""

_PAUSES: Final = Doubling(10.0, 60.0)
"""Pauses between attempts to renew a valid login; a refused new login is kept for the longest one."""


@dataclass(frozen=True, slots=True)
class ExpiringValue(Generic[T]):
    """The result of a login, and its expiry in seconds since the epoch (None: never)."""

    value: T = field(repr=False)
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class _Current(Generic[T]):
    login: ExpiringValue[T]
    ends: float
    renew_at: float
    failures: int = 0
    """Attempts in a row to renew it."""


class ExpiringLogin(Generic[T]):
    """Holds one login.

    Concurrent callers wait for the same login, and share its failure; later ones share it for as long as the
    engine says: a hundred objects try a wrong password once. While a login is renewed ahead of its expiry,
    other callers use the old one; also if the renewal fails, until the expiry.

    Args:
        login: logs in. Raises SyncError.
        now: the wall clock.
        log_in: that of the context, which decides when a login that was refused may be tried again.
        refused: errors of a call which mean that the login is not valid any more.
    """

    def __init__(
        self,
        login: Callable[[], Awaitable[ExpiringValue[T]]],
        *,
        now: Callable[[], float],
        log_in: LogIn,
        refused: type[SyncError] | tuple[type[SyncError], ...] = Unauthenticated,
    ) -> None:
        self._login = login
        self._now = now
        self._log_in_once = log_in
        self._refused = refused
        self._current: _Current[T] | None = None
        self._pending: asyncio.Future[ExpiringValue[T] | SyncError | None] | None = None
        self._last_refused_new: tuple[T, float] | None = None

    @property
    def current(self) -> T | None:
        """The current login, expired or not; to revoke it at the end."""
        return None if self._current is None else self._current.login.value

    async def get(self) -> T:
        """A valid login. Raises what the login raised."""
        while True:
            valid = self._valid()
            if valid is not None and (self._pending is not None or self._now() < valid.renew_at):
                return valid.login.value
            if self._pending is None:
                return await self._log_in(valid)
            pending = self._pending
            await asyncio.wait([pending])  # not the future itself: a cancelled caller must not cancel it
            outcome = pending.result()
            if isinstance(outcome, SyncError):
                raise copy(outcome)
            if outcome is not None:
                return outcome.value

    def drop(self, value: T) -> None:
        """Drop a login that was refused, unless it was replaced already."""
        if self._current is not None and self._current.login.value is value:
            self._current = None

    async def use(self, call: Callable[[T], Awaitable[R]]) -> R:
        """The result of the call, made a second time with a new login if the first one is refused.

        If the new login is refused too, age is not the reason: there is no further login for a minute.
        """
        value = await self.get()
        try:
            return await call(value)
        except self._refused:
            if self._just_refused(value):
                raise
            self.drop(value)
        renewed = await self.get()
        try:
            return await call(renewed)
        except self._refused:
            self._last_refused_new = renewed, self._now() + _PAUSES.longest
            raise

    def _just_refused(self, value: T) -> bool:
        """Whether this login was new when it was refused, a moment ago."""
        login, until = self._last_refused_new or (None, 0.0)
        return login is value and self._now() < until

    def _valid(self) -> _Current[T] | None:
        held = self._current
        return None if held is not None and held.ends <= self._now() else held

    async def _log_in(self, old: _Current[T] | None) -> T:
        """Log in for all waiting callers. A failure is ignored while the old login is still valid."""
        self._pending = asyncio.get_running_loop().create_future()
        outcome: ExpiringValue[T] | SyncError | None = (
            None  # stays so if we are cancelled: the next one tries
        )
        try:
            lease = await (self._log_in_once(self._login) if old is None else self._login())
            self._current = self._new(lease)
            outcome = lease
        except SyncError as error:
            if old is None:
                outcome = error
                raise
            outcome = old.login
            failures = old.failures + 1
            self._current = replace(old, renew_at=self._now() + _PAUSES.pause(failures), failures=failures)
            return old.login.value
        finally:
            self._pending.set_result(outcome)
            self._pending = None
        return lease.value

    def _new(self, lease: ExpiringValue[T]) -> _Current[T]:
        if lease.expires is None:
            return _Current(lease, inf, inf)
        now = self._now()
        ends = max(lease.expires, now + _AT_LEAST)
        return _Current(lease, ends, ends - min(_MARGIN, (ends - now) / 5))

    def __repr__(self) -> str:
        return f"<ExpiringLogin {'none' if self._current is None else 'held'}>"


def bearer(token: SecretBytes) -> dict[str, str]:
    """The Authorization header of a token; surrounding white space, as in files and Secrets, is removed."""
    return {"Authorization": f"Bearer {token.raw.decode('ascii', 'replace').strip()}"}
