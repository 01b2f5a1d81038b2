"""The memory that answers of secret managers take: one limit for all stores of the process.

A response is weighed while it is read, and counts until its callers have taken their values; large values
count until their run ends. Where there is no room, kept answers are dropped; then readers wait. A small
response never waits.

Nothing waits for ever. Where all that holds memory waits for more, one reader goes on beyond the limit, for
which room is left. If a slow server holds it for a second, a response of the store that reads most is
dropped, and read again later; or a store of which little is held goes on beyond the limit.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from math import inf
from typing import Final, Protocol

from syncret.providers.errors import Malformed, Unavailable

LIMIT: Final = 64 * 2**20
LARGEST_PARSED: Final = 20 * 2**20
"""Bytes that one call's responses may take once they are parsed."""

RESERVE: Final = 32 * 2**20
"""Bytes of the limit that are left for one call beyond it, and for what parsing and the allocator waste."""

LARGEST_VALUES: Final = 4 * 2**20
"""Bytes of the values that one run may read; a Secret holds a quarter of it."""

SMALL: Final = 32 * 1024
"""Bytes of a response that never waits."""

SMALL_VALUES: Final = 8 * 1024
"""Bytes of the values of one run that are not counted."""

_COPIES: Final = 4
"""How often a run has each value at a time, about: as such, in documents, in a file."""

PATIENCE: Final = 1.0
"""Seconds in which no reader goes on before a response of another store is dropped, or the limit exceeded."""

_BEGUN: Final = 256 * 1024
"""Bytes that a call holds, with its run, once it has more than begun."""


class TooLarge(Malformed):
    """A response is larger than its reader takes. A smaller page of a list may help."""


def dropped() -> Unavailable:
    """The error for a response that gave way to those of other stores."""
    return Unavailable(
        "the answer was dropped, since answers of other stores waited for memory",
        hint="it is read again; the setting answerMemory limits the answers of all stores",
    )


class RunAnswers:
    """What one run holds of the memory."""

    __slots__ = ("_values", "blocked", "read", "shares")

    def __init__(self) -> None:
        self.shares: list[Share] = []
        self.blocked = 0
        """Calls for this run that wait for memory."""
        self.read = 0
        """Bytes of the values that it has read."""
        self._values: Share | None = None

    @property
    def size(self) -> int:
        return sum(share.size for share in self.shares)

    def hold_values(self, memory: "AnswerMemory", owner: str) -> None:
        """Count what was read; it is too late to wait. Raises TooLarge for more than an object can use."""
        if self.read > LARGEST_VALUES:
            raise TooLarge(
                f"the values that this object reads are larger than {LARGEST_VALUES} bytes together",
                hint="read properties of the entries instead of whole ones: a Secret holds 1 MiB",
            )
        if self._values is None:
            self._values = Share(memory, owner, runs=[self])
            self.shares.append(self._values)
        self._values.add(_COPIES * self.read - self._values.size)

    def block(self, change: int) -> None:
        """So many calls more wait for memory, or (negative) less."""
        self.blocked += change
        for share in self.shares:
            share.grow(0)

    def end(self) -> None:
        """The run needs its answers no longer."""
        while self.shares:
            self.shares[-1].leave(self)


class Share:
    """Bytes that a call holds, or that runs do: what a search found, or the values of one run.

    Args:
        owner: the store.
        askers: the runs that the call is made for.
        runs: the runs that hold it; None for a call, which goes on by itself.
    """

    __slots__ = ("_busy", "_memory", "askers", "ended", "owner", "runs", "server", "size", "timer", "waits")

    def __init__(
        self,
        memory: "AnswerMemory",
        owner: str = "",
        *,
        askers: list[RunAnswers] | None = None,
        runs: list[RunAnswers] | None = None,
    ) -> None:
        self._memory = memory
        self.owner = owner
        self.askers = [] if askers is None else askers
        self.runs = runs
        self.size = 0
        self.waits = 0
        self.timer: asyncio.Timeout | None = None
        """The time limit of the call, in which waiting for memory does not count."""
        self.ended = False
        """The call has its answer; what its tasks read later is not part of it."""
        self.server = ""
        """The server that the call has asked last."""
        self._busy = False

    @property
    def rank(self) -> int:
        """What the call holds, and the run that it is made for."""
        return self.size + max((asker.size for asker in self.askers), default=0)

    async def take(self, size: int) -> None:
        """Hold more, as soon as there is room. Raises Unavailable if another store takes the place."""
        if self.size + size <= SMALL or self._memory.has_room(size):
            self.add(size)
        else:
            await self._memory.wait(self, size)

    def add(self, size: int) -> None:
        """Hold more, or (negative) less, at once."""
        self.grow(size)
        self._memory.grant()

    def release(self) -> None:
        """Hold nothing any more."""
        if self.size:
            self.add(-self.size)

    def join(self, run: RunAnswers) -> None:
        """The run holds this, too."""
        if self.runs is not None and run not in self.runs:
            self.runs.append(run)
            run.shares.append(self)
            self.changed()

    def leave(self, run: RunAnswers) -> None:
        """The run holds this no longer; the last one releases it."""
        run.shares.remove(self)
        if self.runs is not None:
            self.runs.remove(run)
            if not self.runs:
                self.grow(-self.size)
            self.changed()

    def changed(self) -> None:
        """Whether this goes on by itself, and so will be released, may have changed."""
        self.grow(0)
        self._memory.grant()

    def grow(self, size: int) -> None:
        """Count more, and whether this goes on by itself; without a look at who waits."""
        self.size += size
        if size:
            self._memory.count(self.owner, size)
        goes_on = self.runs is None or not all(run.blocked for run in self.runs)
        busy = self.size > 0 and not self.waits and goes_on
        self._memory.busy += busy - self._busy
        self._busy = busy

    def __repr__(self) -> str:
        return f"<Share {self.owner or '-'} size={self.size}{' waits' if self.waits else ''}>"


call_share: Final[ContextVar[Share | None]] = ContextVar("call_share", default=None)
"""The share of the call that is being made."""

found_share: Final[ContextVar[Share | None]] = ContextVar("found_share", default=None)
"""The share of what the search that is being made has found."""


class Droppable(Protocol):
    """A response that is being read."""

    @property
    def share(self) -> Share: ...

    def drop(self) -> None:
        """End the reading with an error."""
        ...


class _Waiter:
    __slots__ = ("askers", "granted", "share", "size")

    def __init__(self, share: Share, size: int) -> None:
        self.share = share
        self.size = size
        self.askers = tuple(share.askers)
        self.granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """False if the response is dropped. No exception: that would keep the frames of its readers."""


def _keep_nothing(missing: int) -> None:
    """Nothing is kept that could be dropped."""
    del missing


class AnswerMemory:
    """How much is held, and who waits for more.

    Args:
        limit: bytes, about. One response may exceed what others leave of it.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._room = limit - RESERVE
        self.limit = limit
        self.used = 0
        self.busy = 0
        """Shares that hold something, and go on without more."""
        self.waited = 0.0
        """Seconds that readers have waited, in all."""
        self.drop_kept: Callable[[int], None] = _keep_nothing
        """Called with the bytes that are missing: drops answers that are kept for later."""
        self.bodies: dict[Droppable, None] = {}
        """Responses that are being read, oldest first."""
        self._by_owner: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []
        self._last_grant = -inf

    @property
    def waiting(self) -> int:
        """How many readers wait."""
        return len(self._waiting)

    def has_room(self, size: int) -> bool:
        """Whether nothing has to wait for so much."""
        return not self._waiting and self.used + size <= self._room

    def count(self, owner: str, size: int) -> None:
        """So much more, or (negative) less, is held of a store's answers."""
        self.used += size
        self._by_owner[owner] += size
        if not self._by_owner[owner]:
            del self._by_owner[owner]

    async def wait(self, share: Share, size: int) -> None:
        """Wait for room; the share holds it then. Raises Unavailable if another store takes the place."""
        loop = asyncio.get_running_loop()
        begin, timer = loop.time(), share.timer
        deadline = None if timer is None else timer.when()
        waiter = _Waiter(share, size)
        self._waiting.append(waiter)
        self._block(waiter, 1)
        if timer is not None:
            timer.reschedule(None)
        try:
            self.grant()
            while not waiter.granted.done():
                await asyncio.wait([waiter.granted], timeout=PATIENCE)
                if not waiter.granted.done() and loop.time() - self._last_grant >= PATIENCE:
                    self._help(waiter)
        finally:
            if waiter in self._waiting:
                self._end_wait(waiter)
            self.grant()
            self.waited += loop.time() - begin
            if timer is not None and deadline is not None:
                timer.reschedule(deadline + loop.time() - begin)
        if not waiter.granted.result():
            raise dropped()

    def grant(self) -> None:
        """Let those go on for whom there is room; or one, if nothing else goes on."""
        while self._waiting and not (self.busy and self.used >= self._room):
            waiter = max(self._waiting, key=self._order)
            missing = self.used + waiter.size - self._room
            if missing > 0:
                self.drop_kept(missing)
                missing = self.used + waiter.size - self._room
            if missing > 0 and self.busy:
                return
            self._go_on(waiter)

    def _order(self, waiter: _Waiter) -> tuple[bool, int]:
        """What holds most goes first, as it is released soonest; then stores of which little is held."""
        rank = waiter.share.rank
        return (True, rank) if rank > _BEGUN else (False, -self._by_owner[waiter.share.owner])

    def _go_on(self, waiter: _Waiter) -> None:
        self._last_grant = asyncio.get_running_loop().time()
        self._end_wait(waiter)
        waiter.share.grow(waiter.size)
        waiter.granted.set_result(True)

    def _end_wait(self, waiter: _Waiter) -> None:
        self._waiting.remove(waiter)
        self._block(waiter, -1)

    def _block(self, waiter: _Waiter, change: int) -> None:
        waiter.share.waits += change
        waiter.share.grow(0)
        for run in waiter.askers:
            run.block(change)

    def _help(self, waiter: _Waiter) -> None:
        """What others hold is not released: they wait for a server, which may be slow on purpose."""
        if self._drop_for(waiter.share):
            self._last_grant = asyncio.get_running_loop().time()
        elif self._by_owner[waiter.share.owner] + waiter.size <= LARGEST_PARSED:
            self._go_on(waiter)

    def fail(self, share: Share) -> None:
        """End the waits of a share: its response is dropped."""
        for waiter in [waiter for waiter in self._waiting if waiter.share is share]:
            self._end_wait(waiter)
            waiter.granted.set_result(False)

    def _drop_for(self, share: Share) -> bool:
        """Drop the newest response of the store that reads most, if that is more than this one reads."""
        held: Counter[str] = Counter()
        large = [body for body in self.bodies if body.share.size > SMALL]
        for body in large:
            held[body.share.owner] += body.share.size
        owner, most = max(held.items(), key=lambda item: item[1], default=("", 0))
        if owner == share.owner or most <= held[share.owner]:
            return False
        next(body for body in reversed(large) if body.share.owner == owner).drop()
        return True

    def __repr__(self) -> str:
        return f"<AnswerMemory used={self.used} of {self.limit} waiting={self.waiting}>"
