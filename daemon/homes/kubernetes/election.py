"""One active replica of several: leader election on a Lease, with a fence in time.

The replica that holds the Lease may write until the fence: a time after its last renewal before which no
other replica can have taken the Lease. Another replica takes it once it has not changed for longer than that,
by its own clock: the times in the Lease are never compared with a clock.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from msgspec import Struct

from syncret.daemon.homes.contract import Conflict, HomeError, OutcomeUnknown

MARGIN: Final = 2.0
"""Seconds before the end of its Lease at which the holder stops."""

GRACE: Final = 1.0
"""Seconds after the end of a Lease that did not change before it is taken."""

LOOK_EVERY: Final = 0.8
"""Seconds between two looks of a replica that waits: it takes over within a second of a graceful end."""

_BETWEEN_FAILURES: Final = 0.5


class Held(Struct, frozen=True):
    """The Lease as it stands. Without a holder it is free."""

    version: str
    holder: str
    seconds: float
    """Its duration, as the holder wrote it."""
    transitions: int = 0


class Leases(Protocol):
    """Reads and writes the one Lease. Each method may raise HomeError."""

    async def get(self) -> Held | None:
        """The Lease, or None if there is none."""
        ...

    async def put(self, lease: Held, *, acquired: bool) -> Held:
        """Write it over the version that it names; with an empty one, create it. Raises Conflict.

        `acquired`: the holder is another one than before.
        """
        ...


def boot_time() -> float:
    """Seconds since the machine started, those in which it slept included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Election:
    """One replica's part in the election. `run` it; `is_active` says whether it may write now."""

    def __init__(
        self,
        leases: Leases,
        *,
        identity: str,
        seconds: float = 10.0,
        renew: float = 2.0,
        clock: Callable[[], float] = boot_time,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`seconds`: how long the Lease counts; `renew`: how often it is renewed. `clock` never goes back."""
        self._leases = leases
        self._name = identity
        self._terms = 0
        self._seconds = seconds
        self._renew = renew
        self._clock = clock
        self._pause = pause
        self._fence = float("-inf")
        self._mine: Held | None = None
        """The Lease as we wrote it, while we hold it."""
        self._seen: tuple[str, float] = ("", 0.0)
        """The newest version that we saw, and when we first saw it."""
        self._changed = asyncio.Event()
        self._was_active = False
        self.holder = ""
        """The holder of the Lease, as far as we know."""
        self.taken = ""
        """The version of the Lease with which we took it last: earlier writes of others are older."""

    @property
    def identity(self) -> str:
        """Our name on the Lease: another one after each term, so that a late renewal renews nothing."""
        return f"{self._name}_{self._terms}"

    @property
    def is_active(self) -> bool:
        """Whether the fence stands."""
        return self._clock() < self._fence

    @property
    def left(self) -> float:
        """Seconds until the fence; 0 once it has fallen."""
        return max(0.0, self._fence - self._clock())

    async def changed(self) -> None:
        """Return once `is_active` may be another than when this returned last."""
        await self._changed.wait()
        self._changed.clear()

    async def run(self) -> None:
        """Take part until cancelled."""
        while True:
            try:
                pause = await (self._look() if self._mine is None else self._keep(self._mine))
            except HomeError:
                pause = _BETWEEN_FAILURES
            self._notify()
            if self._mine is not None:
                await self._until_renewal(pause)
            else:
                await self._pause(pause)

    async def leave(self) -> None:
        """Give the Lease back, so that another replica takes over at once."""
        mine, self._mine = self._mine, None
        active, self._fence = self.is_active, float("-inf")
        self._notify()
        if mine is not None and active:
            await self._leases.put(Held(mine.version, "", mine.seconds, mine.transitions), acquired=False)

    async def _until_renewal(self, pause: float) -> None:
        """Wait, but no longer than until the fence: its end must be notified at once."""
        await self._pause(min(pause, self.left))
        self._notify()

    async def _look(self) -> float:
        """Read the Lease; take it if it is free. Returns the seconds until the next look."""
        lease = await self._leases.get()
        now = self._clock()
        if lease is None:
            await self._take(Held("", self.identity, self._seconds))
            return self._renew
        self.holder = lease.holder
        if lease.version != self._seen[0]:
            self._seen = (lease.version, now)
        longest = max(self._seconds, lease.seconds) + GRACE
        is_ours = lease.holder == self.identity  # the answer to our write was lost
        if lease.holder and not is_ours and now - self._seen[1] < longest:
            return LOOK_EVERY
        transitions = lease.transitions + (not is_ours)
        await self._take(Held(lease.version, self.identity, self._seconds, transitions))
        return self._renew

    async def _take(self, lease: Held) -> None:
        """Write ourselves into the Lease. Raises Conflict if another replica was quicker."""
        sent = self._clock()
        taken = await self._leases.put(lease, acquired=True)
        self.taken = taken.version
        self._hold(taken, sent)

    async def _keep(self, mine: Held) -> float:
        """Renew the Lease. After a conflict it is no longer ours."""
        if not self.is_active:
            self._lose()
            return 0.0
        sent = self._clock()
        try:
            async with asyncio.timeout(max(self.left, 0.1)):
                renewed = await self._leases.put(mine, acquired=False)
        except (OutcomeUnknown, TimeoutError):  # it may have been renewed: then it is still ours
            lease = await self._leases.get()
            if lease is not None and lease.holder == self.identity:
                self._mine = lease
            else:
                self._lose()
            return 0.0
        except Conflict:
            self._lose()
            return LOOK_EVERY
        self._hold(renewed, sent)
        return self._renew

    def _hold(self, lease: Held, sent: float) -> None:
        self._mine = lease
        self._fence = sent + lease.seconds - MARGIN
        self.holder = lease.holder
        self._seen = (lease.version, sent)

    def _lose(self) -> None:
        """Stop writing at once, and wait like any other replica, under another identity."""
        self._mine = None
        self._fence = float("-inf")
        self._terms += 1

    def _notify(self) -> None:
        if self.is_active != self._was_active:
            self._was_active = self.is_active
            self._changed.set()
