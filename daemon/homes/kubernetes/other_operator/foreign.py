"""Whether another operator works on our objects: then nothing is written, until its signs are over.

Two signs count: the Lease of the External Secrets Operator's election is renewed by a holder that is none of
our replicas; or its field manager writes a status of one of our ExternalSecrets after we had listed it.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog

from syncret.daemon.homes.kubernetes.election import GRACE, Held, Leases

LEASE: Final = "Lease"
STATUS: Final = "ExternalSecret"
"""The kinds of the objects that show a sign."""

AFTER_LEASE: Final = 60.0
"""Seconds after the last renewal for which the other operator counts as running."""

HINT: Final = "scale it to 0, or give one of the two another controller class (syncret migrate shows how)"

_OURS: Final = re.compile(r".+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_[0-9]+")
"""An identity of our election: client-go's has no term at its end."""

log = structlog.get_logger()


class ForeignWriters:
    """Keeps the signs, and says why nothing may be written now."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        on_begin: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`on_begin` is called with the reason once another operator is seen."""
        self._clock = clock
        self._pause = pause
        self._on_begin = on_begin
        self._until: dict[str, float] = {}
        self._reasons: dict[str, str] = {}
        self._was_on = False
        self._changed = asyncio.Event()
        self._news = asyncio.Event()

    @property
    def signs(self) -> Mapping[str, str]:
        """The reason by the kind of each sign that still counts."""
        now = self._clock()
        return {kind: self._reasons[kind] for kind, until in self._until.items() if now < until}

    @property
    def reason(self) -> str:
        """Why nothing may be written; empty: no other operator is at work."""
        return "; ".join(self.signs.values())

    def seen(self, kind: str, reason: str, seconds: float) -> None:
        """A sign, which counts for so long unless another one of the kind comes.

        A status is no further sign while the Lease is held: its holder writes statuses.
        """
        if kind == STATUS and LEASE in self.signs:
            return
        self._reasons[kind] = reason
        self._until[kind] = max(self._until.get(kind, 0.0), self._clock() + seconds)
        self._notify()
        self._news.set()

    async def changed(self) -> None:
        """Return once writes were allowed or forbidden since this returned last."""
        await self._changed.wait()
        self._changed.clear()

    async def run(self) -> None:
        """Notify when signs are over, until cancelled."""
        while True:
            left = max(self._until.values(), default=0.0) - self._clock()
            if left > 0:
                await self._pause(left)
            else:
                self._notify()
                self._news.clear()
                await self._news.wait()

    def _notify(self) -> None:
        reason = self.reason
        if bool(reason) == self._was_on:
            return
        self._was_on = bool(reason)
        self._changed.set()
        if reason:
            log.warning("another operator is at work: nothing is written", reason=reason, hint=HINT)
            self._on_begin(reason)
        else:
            log.info("no other operator is at work any more: what is due is done now")


class SeenLease:
    """A Lease that the operator's election takes, too. Implements `Leases`, and reports the signs in it."""

    def __init__(
        self, leases: Leases, name: str, foreign: ForeignWriters, clock: Callable[[], float]
    ) -> None:
        self._leases = leases
        self._name = name
        self._foreign = foreign
        self._clock = clock
        self._first: tuple[str, str, float] = ("", "", 0.0)
        """The holder, the newest version that was seen, and when the holder was first seen."""

    async def get(self) -> Held | None:
        """As `Leases` says."""
        lease = await self._leases.get()
        self._examine(lease)
        return lease

    async def put(self, lease: Held, *, acquired: bool) -> Held:
        """As `Leases` says: a write of our own is no sign."""
        return await self._leases.put(lease, acquired=acquired)

    def _examine(self, lease: Held | None) -> None:
        if lease is None or not lease.holder or _OURS.fullmatch(lease.holder):
            self._first = ("", "", 0.0)
            return
        now = self._clock()
        holder, version, since = self._first
        if holder != lease.holder:
            self._first = (lease.holder, lease.version, now)
            wait = lease.seconds + GRACE
            held = f"{self._name} is held by {lease.holder}"
            self._foreign.seen(LEASE, f"{held}, which may be another operator", wait)
        elif version != lease.version:
            self._first = (holder, lease.version, since)
            self._foreign.seen(
                LEASE, f"{self._name} is renewed by another operator, {lease.holder}", AFTER_LEASE
            )
