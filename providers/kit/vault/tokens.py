"""Vault tokens and logins, and the renewal of leases of dynamic credentials while a store is in use.

The newest lease of each path is renewed after two thirds of its duration, until Vault refuses. An older lease
is left to expire, since an object that was not refreshed since may still use its credentials.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from syncret.config.fields import Json
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.retry import Doubling
from syncret.providers.kit.vault.replies import Reply, number
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.values import SecretBytes

_RENEW_AFTER: Final = 2 / 3
_MAX_LEASES: Final = 1000
"""The most leases that are renewed; then the oldest is left to expire."""

_PAUSES: Final = Doubling(10.0, 60.0)
"""Between the attempts to renew a lease if there was no answer."""


@dataclass(frozen=True, slots=True)
class _Lease:
    lease: str
    due: float
    failures: int = 0
    """Renewals in a row that had no answer."""


class LeaseRenewer:
    """Renews the leases of one client, until `close`.

    Args:
        renew: renews one lease; returns its seconds from now, 0 if it cannot be renewed. Raises SyncError.
    """

    def __init__(self, renew: Callable[[str], Awaitable[float]]) -> None:
        self._renew = renew
        self._leases: dict[str, _Lease] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def track(self, path: str, lease: str, seconds: float) -> None:
        """Renew this lease from now on, instead of an earlier one of the path."""
        self._leases.pop(path, None)
        if len(self._leases) >= _MAX_LEASES:
            del self._leases[next(iter(self._leases))]
        self._schedule(path, lease, seconds * _RENEW_AFTER)
        self._changed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="vault leases")

    async def close(self) -> None:
        """Stop renewing."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])  # not the task itself: the caller may be cancelled too
        if not self._task.cancelled():
            self._task.result()

    def _schedule(self, path: str, lease: str, pause: float, failures: int = 0) -> None:
        self._leases[path] = _Lease(lease, asyncio.get_running_loop().time() + pause, failures)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._changed.clear()
            now = loop.time()
            for path, held in [each for each in self._leases.items() if each[1].due <= now]:
                await self._renew_one(path, held)
            due = min((held.due for held in self._leases.values()), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._changed.wait()

    async def _renew_one(self, path: str, held: _Lease) -> None:
        failures = 0
        try:
            pause = await self._renew(held.lease) * _RENEW_AFTER
        except (Denied, Malformed):
            pause = 0.0  # expired, or not renewable
        except SyncError:
            failures = held.failures + 1
            pause = _PAUSES.pause(failures)
        if self._leases.get(path) is held:
            del self._leases[path]
            if pause:
                self._schedule(path, held.lease, pause, failures)


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    """A token, its lifetime, and whether it is renewed and revoked."""

    value: str = field(repr=False)
    lifetime: float = 0.0
    """Seconds when it was issued; 0: it does not expire, or is not renewed by us."""
    expires: float | None = None
    renewable: bool = False
    ours: bool = False
    """Whether we created it by a login, and so may revoke it."""


@dataclass(frozen=True, slots=True)
class Login:
    """One login method. `run` returns the response of the login, or an existing token from a Secret."""

    method: str
    run: Callable[[Adapter], Awaitable[Reply | SecretBytes]]
    remedy: str
    """The hint if Vault does not accept the credentials: the fields to check, the most likely one first."""

    def refused(self, status: HTTPStatus) -> Denied:
        """The error if Vault refuses the login. 403 is also the answer where no method is mounted."""
        hint = self.remedy
        if status is HTTPStatus.FORBIDDEN:
            hint = f"check auth.{self.method}.path first: is this method mounted there? Then {hint}"
        return Denied(f"{self.doing}: Vault refuses it (HTTP {status})", hint=hint)

    @property
    def doing(self) -> str:
        return f"logging in to Vault by {self.method}"


def token_of(auth: Mapping[str, Json], now: float, lifetime: float = 0.0) -> Token:
    """The token in the `auth` of a response; `lifetime` is that of the renewed token."""
    value = auth.get("client_token")
    seconds = number(auth.get("lease_duration"))
    return Token(
        value if isinstance(value, str) else "",
        lifetime=lifetime or seconds,
        expires=now + seconds if seconds else None,
        renewable=auth.get("renewable") is True,
        ours=auth.get("token_type") != "batch",
    )


def header(token: SecretBytes, doing: str) -> str:
    """The token of a Secret as a header value, without surrounding white space. Raises Malformed."""
    text = token.raw.decode("ascii", "replace").strip()
    if text and text.isprintable() and text.isascii():
        return text
    raise Malformed(f"{doing}: the Secret's value is no token", hint="it must be one line of plain text")


def missing_token(doing: str, *, needs_more: bool) -> SyncError:
    """The error for the response of a login that has no token."""
    if needs_more:
        return Denied(f"{doing}: Vault wants a second factor", hint="use a login that needs none")
    return Malformed(
        f"{doing}: the answer holds no token", hint="does the mount path lead to a login method?"
    )
