"""Logins that expire: one at a time however many callers, renewed before the end, dropped when refused.

self._token = Expiring(self._login, now=context.now)
answer = await self._token.use(lambda token: http.request("GET", path, doing=..., headers=bearer(token)))
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Final, Generic, TypeVar

from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.http.answers import Unauthenticated
from syncret.providers.kit.retry import Doubling

T = TypeVar("T")
R = TypeVar("R")

_MARGIN: Final = 60.0
"""Seconds before its end from which a login is renewed; a fifth of its life, where that is shorter."""

_PAUSES: Final = Doubling(10.0, 60.0)
"""Between attempts to renew a login that is still good. A refused new login is kept for the longest pause."""

_LARGEST: Final = 64 * 1024

_OWN_TOKENS: Final = "/var/run/secrets/kubernetes.io"
_OWN_FILES: Final = (
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_FEDERATED_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
"""Variables that name files by which clouds know the daemon."""


@dataclass(frozen=True, slots=True)
class ExpiringValue(Generic[T]):
    """What a login gave, and until when it is good, in seconds since the epoch (None: for ever)."""

    value: T = field(repr=False)
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class _Current(Generic[T]):
    login: ExpiringValue[T]
    renew_at: float
    failures: int = 0
    """Attempts in a row to renew it."""


class ExpiringLogin(Generic[T]):
    """Holds one login.

    Callers who come while nobody is logged in wait for the same login, and share its failure: a hundred
    objects try a wrong password once. While a login is renewed ahead of its end, others go on with the old
    one; so they do if the renewal fails, until the end.

    Args:
        login: gets a new lease. Raises SyncError.
        now: the wall clock.
        refused: errors of a call which mean that the login is not good any more.
    """

    def __init__(
        self,
        login: Callable[[], Awaitable[ExpiringValue[T]]],
        *,
        now: Callable[[], float],
        refused: type[SyncError] | tuple[type[SyncError], ...] = Unauthenticated,
    ) -> None:
        self._login = login
        self._now = now
        self._refused = refused
        self._current: _Current[T] | None = None
        self._pending: asyncio.Future[ExpiringValue[T] | SyncError | None] | None = None
        self._last_refused_new: tuple[T, float] | None = None

    @property
    def current(self) -> T | None:
        """What is held now, expired or not; for a good-bye that revokes it."""
        return None if self._current is None else self._current.login.value

    async def get(self) -> T:
        """A login that is good now. Raises what the login raised."""
        while True:
            valid = self._valid()
            if valid is not None and (self._pending is not None or self._now() < valid.renew_at):
                return valid.login.value
            if self._pending is None:
                return await self._log_in(valid)
            pending = self._pending
            await asyncio.wait([pending])  # not the future itself: one who gives up must not cancel it
            outcome = pending.result()
            if isinstance(outcome, SyncError):
                raise copy(outcome)
            if outcome is not None:
                return outcome.value

    def drop(self, value: T) -> None:
        """This login was refused. Does nothing where another one has taken its place already."""
        if self._current is not None and self._current.login.value is value:
            self._current = None

    async def use(self, call: Callable[[T], Awaitable[R]]) -> R:
        """The call's result. Where it says that the login is not good any more, it is made with another.

        If that one is refused too, the age of the login is not to blame: for a minute nobody logs in again.
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
        """Whether it was refused as soon as it was got."""
        login, until = self._last_refused_new or (None, 0.0)
        return login is value and self._now() < until

    def _valid(self) -> _Current[T] | None:
        held = self._current
        expires = None if held is None else held.login.expires
        return None if expires is not None and expires <= self._now() else held

    async def _log_in(self, old: _Current[T] | None) -> T:
        """Log in for all who wait. A failure is passed over while the old login is still good."""
        self._pending = asyncio.get_running_loop().create_future()
        outcome: ExpiringValue[T] | SyncError | None = (
            None  # stays so if we are cancelled: the next one tries
        )
        try:
            lease = await self._login()
            self._current = _Current(lease, self._renew_at(lease))
            outcome = lease
        except SyncError as error:
            if old is None:
                outcome = error
                raise
            outcome = old.login
            failures = old.failures + 1
            self._current = _Current(old.login, self._now() + _PAUSES.pause(failures), failures)
            return old.login.value
        finally:
            self._pending.set_result(outcome)
            self._pending = None
        return lease.value

    def _renew_at(self, lease: ExpiringValue[T]) -> float:
        if lease.expires is None:
            return inf
        now = self._now()
        return lease.expires - min(_MARGIN, (lease.expires - now) / 5)

    def __repr__(self) -> str:
        return f"<Expiring {'none' if self._current is None else 'held'}>"


def bearer(token: SecretBytes) -> dict[str, str]:
    """The header that shows a token; white space around it, as files and Secrets have it, is left out."""
    return {"Authorization": f"Bearer {token.raw.decode('ascii', 'replace').strip()}"}


def is_daemon_credential(path: str, environment: Mapping[str, str]) -> bool:
    """Whether a path leads to a token or key of the daemon itself, whatever links are on the way.

    Where a manifest names a file and the server that its content is sent to, it must not be one of these.
    """
    real = Path(os.path.realpath(path))
    own_files = (environment.get(name) for name in _OWN_FILES)
    return real.is_relative_to(os.path.realpath(_OWN_TOKENS)) or any(
        real == Path(os.path.realpath(own)) for own in own_files if own
    )


def token_file(path: str | Path, *, what: str = "token") -> SecretBytes:
    """The token in a file, read anew each time: whoever mounts it changes it before it expires.

    Raises Malformed with the path, where there is none or it is empty.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST).strip()
    except OSError as error:
        raise Malformed(
            f"the {what} file {path} cannot be read: {error.strerror}",
            hint="is it mounted, and may this user read it?",
        ) from None
    if not text:
        raise Malformed(f"the {what} file {path} is empty", hint="whoever writes it has not done so yet")
    return SecretBytes(text)
