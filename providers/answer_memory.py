"""The memory that answers of secret managers take: one limit for all stores of the process.

A response is counted while it is read, until its callers have taken their values; large values count until
their run ends. If there is no room, cached answers are dropped first; then readers wait. A small response
never waits.

While readers of a store wait, its further requests are not sent: each connection would receive data ahead of
its reader.

There is no deadlock. A holder of memory makes progress unless it waits for memory itself, or for something
that a waiter may hold: a turn, a token of the bucket, a call in progress. A holder with progress ends within
a time limit, and releases its memory. If no holder makes progress, the reader that holds most, with its run,
continues beyond the limit, for which a reserve is left. If a slow server holds memory for a second, the
largest response of the store that reads most is dropped, and read again later; or a store that holds little
continues beyond the limit. In any other case a reader fails once no reader has continued for ten seconds.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol

from syncret.providers.errors import Malformed, Unavailable

LIMIT: Final = 64 * 2**20
LARGEST_PARSED: Final = 20 * 2**20
"""Bytes that one call's responses may take once they are parsed."""

RESERVE: Final = 32 * 2**20
"""Bytes of the limit that are reserved for one call beyond it, and for overhead of parser and allocator."""

LARGEST_VALUES: Final = 4 * 2**20
"""Bytes of the values that one run may read; a Secret holds a quarter of it."""

SMALL: Final = 32 * 1024
"""Bytes of a response that never waits."""

SMALL_VALUES: Final = 8 * 1024
"""Bytes of the values of one run that are not counted."""

_COPIES: Final = 4
"""Copies of each value that a run has at a time, about: as such, in documents, in a file."""

LONGEST_WAIT: Final = 1.0
"""Seconds without a grant before a response of another store is dropped, or the limit is exceeded."""

STUCK: Final = 10.0
"""Seconds without a grant before one reader fails."""

BUFFERED: Final = 128 * 1024
"""Bytes that a connection receives ahead of its reader, about; counted for large responses."""

_BEGUN: Final = 256 * 1024
"""Bytes from which a call, with its run, takes precedence by the memory that it holds."""


class TooLarge(Malformed):
    """A response is larger than its reader takes. A smaller page of a list may help."""


def dropped() -> Unavailable:
    """The error for a response that was dropped in favour of other stores."""
    return Unavailable(
        "the answer was dropped, since answers of other stores waited for memory",
        hint="it is read again; the setting answerMemory limits the answers of all stores",
    )


class RunAnswers:
    """The memory that one run holds."""

    __slots__ = ("_values", "read", "shares")

    def __init__(self) -> None:
        self.shares: list[Share] = []
        self.read = 0
        """Bytes of the values that it has read."""
        self._values: Share | None = None

    @property
    def size(self) -> int:
        return sum(share.size for share in self.shares)

    def hold_values(self, memory: "AnswerMemory", owner: str) -> None:
        """Count values that were read, without waiting. Raises TooLarge for more than an object can use."""
        if self.read > LARGEST_VALUES:
            raise TooLarge(
                f"the values that this object reads are larger than {LARGEST_VALUES} bytes together",
                hint="read properties of the entries instead of whole ones: a Secret holds 1 MiB",
            )
        if self._values is None:
            self._values = Share(memory, owner, runs=[self])
            self.shares.append(self._values)
        self._values.add(_COPIES * self.read - self._values.size)

    def end(self) -> None:
        """The run needs its answers no longer."""
        while self.shares:
            self.shares[-1].leave(self)


class Share:
    """The memory that a call or several runs hold: the results of a search, or the values of one run.

    Args:
        owner: the store.
        askers: the runs that the call is made for; more may join while it is made.
        runs: the runs that hold it; None for a call, which goes on by itself.
    """

    __slots__ = ("_memory", "askers", "ended", "once", "owner", "runs", "server", "size", "timer", "waits")

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
        """The number of tasks of the call that wait."""
        self.timer: asyncio.Timeout | None = None
        """The time limit of the call, in which waiting for memory does not count."""
        self.ended = False
        """The call has its answer; what its tasks read later is not part of it."""
        self.server = ""
        """The server that the call has asked last."""
        self.once = False
        """Whether the call may create something: then none of its requests is repeated."""

    @property
    def rank(self) -> int:
        """The bytes that the call holds, and the run that it is made for."""
        return self.size + max((asker.size for asker in self.askers), default=0)

    async def may_send(self) -> None:
        """Wait before a request while readers of its store wait; then hold what its connection buffers."""
        if self._memory.is_waited_for(self.owner):
            await self.take(BUFFERED)

    @contextmanager
    def held_up(self) -> Generator[None, None, None]:
        """Within this block the call waits for something that a waiter for memory may hold."""
        self._memory.hold_up(self, 1)
        try:
            self._memory.grant()
            yield
        finally:
            self._memory.hold_up(self, -1)

    async def take(self, size: int) -> None:
        """Hold more, as soon as there is room. Raises Unavailable if the response is dropped."""
        if self.size + size <= SMALL or self._memory.has_room(size):
            self.add(size)
        else:
            await self._memory.wait(self, size)

    def add(self, size: int) -> None:
        """Hold more, or (negative) less, at once."""
        self.grow(size)
        self._memory.grant()

    def release(self) -> None:
        """Release everything."""
        self.askers = []
        if self.size:
            self.add(-self.size)

    def join(self, run: RunAnswers) -> None:
        """The run holds this, too."""
        if self.runs is not None and run not in self.runs:
            self.runs.append(run)
            run.shares.append(self)

    def leave(self, run: RunAnswers) -> None:
        """The run holds this no longer; the last one releases it."""
        run.shares.remove(self)
        if self.runs is not None:
            self.runs.remove(run)
            if not self.runs:
                self.grow(-self.size)
            self._memory.grant()

    def makes_progress(self, held_up: Container[RunAnswers]) -> bool:
        """Whether this makes progress, so that it will be released; `held_up` are runs whose calls wait."""
        return not self.waits and (self.runs is None or any(run not in held_up for run in self.runs))

    def grow(self, size: int) -> None:
        """Count more, without granting to waiters."""
        self.size += size
        self._memory.count(self, size)

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
    __slots__ = ("granted", "share", "size")

    def __init__(self, share: Share, size: int) -> None:
        self.share = share
        self.size = size
        self.granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """False if the response is dropped. No exception: that would keep the frames of its readers."""


def _list(share: Share, shares: dict[Share, None], *, wanted: bool) -> None:
    if wanted:
        shares[share] = None
    else:
        shares.pop(share, None)


def _keep_nothing(missing: int) -> None:
    """Nothing is kept that could be dropped."""
    del missing


class AnswerMemory:
    """Counts the memory that is held, and the readers that wait for more.

    Args:
        limit: bytes, about. One response may exceed it.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._room = limit - RESERVE
        self.limit = limit
        self.used = 0
        self.waited = 0.0
        """Seconds that readers have waited, in all."""
        self.drop_kept: Callable[[int], None] = _keep_nothing
        """Called with the bytes that are missing: drops answers that are kept for later."""
        self.bodies: dict[Droppable, None] = {}
        """Responses that are being read, oldest first."""
        self._holders: dict[Share, None] = {}
        self._held_up: dict[Share, None] = {}
        self._waiting: list[_Waiter] = []
        self._last_grant = 0.0

    @property
    def waiting(self) -> int:
        """How many readers wait."""
        return len(self._waiting)

    def is_waited_for(self, owner: str) -> bool:
        """Whether readers of a store wait, or its requests."""
        return any(waiter.share.owner == owner for waiter in self._waiting)

    def has_room(self, size: int) -> bool:
        """Whether nothing has to wait for so much."""
        return not self._waiting and self.used + size <= self._room

    def count(self, share: Share, size: int) -> None:
        """A share holds so much more, or (negative) less."""
        self.used += size
        _list(share, self._holders, wanted=share.size > 0)

    def hold_up(self, share: Share, change: int) -> None:
        """So many more tasks of a call wait for others, or (negative) less."""
        share.waits += change
        _list(share, self._held_up, wanted=share.waits > 0)

    async def wait(self, share: Share, size: int) -> None:
        """Wait for room, which the share then holds. Raises Unavailable if the response is dropped."""
        loop = asyncio.get_running_loop()
        begin, timer = loop.time(), share.timer
        deadline = None if timer is None else timer.when()
        if not self._waiting:
            self._last_grant = begin
        waiter = _Waiter(share, size)
        self._waiting.append(waiter)
        self.hold_up(share, 1)
        if timer is not None:
            timer.reschedule(None)
        try:
            self.grant()
            while not waiter.granted.done():
                await asyncio.wait([waiter.granted], timeout=LONGEST_WAIT)
                self.grant()  # the end of a run's progress is not signalled
                if not waiter.granted.done():
                    self._relieve(waiter, loop.time())
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
        """Grant room to waiters while there is any; or to one, if no holder makes progress."""
        while self._waiting:
            waiter = self._first()
            missing = self.used + waiter.size - self._room
            if missing > 0:
                self.drop_kept(missing)
                missing = self.used + waiter.size - self._room
            if missing > 0 and self._any_makes_progress():
                return
            self._grant_to(waiter)

    def _first(self) -> _Waiter:
        """The waiter that holds most, as it ends soonest; or the oldest one of the store that holds least."""
        held = self._held_of_stores()

        def order(waiter: _Waiter) -> tuple[bool, int]:
            rank = waiter.share.rank
            return (True, rank) if rank > _BEGUN else (False, -held[waiter.share.owner])

        return max(self._waiting, key=order)

    def _held_of_stores(self) -> Counter[str]:
        """Bytes by store, without those of waiting readers: many must not wait longer than one."""
        held: Counter[str] = Counter()
        for share in self._holders:
            if not share.waits:
                held[share.owner] += share.size
        return held

    def _any_makes_progress(self) -> bool:
        """Whether a holder makes progress, so that memory will be released."""
        held_up = {run for share in self._held_up for run in share.askers}
        return any(share.makes_progress(held_up) for share in self._holders)

    def _grant_to(self, waiter: _Waiter) -> None:
        self._last_grant = asyncio.get_running_loop().time()
        self._end_wait(waiter)
        waiter.share.grow(waiter.size)
        waiter.granted.set_result(True)

    def _end_wait(self, waiter: _Waiter) -> None:
        self._waiting.remove(waiter)
        self.hold_up(waiter.share, -1)

    def _relieve(self, waiter: _Waiter, now: float) -> None:
        """Drop a response or exceed the limit, as memory is not released: a server may be slow on purpose."""
        if now < self._last_grant + LONGEST_WAIT:
            return
        beyond = self.used + waiter.size - self._room
        held = self._held_of_stores()[waiter.share.owner]
        if self._drop_for(waiter.share):
            self._last_grant = now
        elif max(beyond, held + waiter.size) <= LARGEST_PARSED:
            self._grant_to(waiter)
        elif now >= self._last_grant + STUCK:
            self._last_grant = now
            self.fail(waiter.share)

    def fail(self, share: Share) -> None:
        """End the waits of a share: its response is dropped."""
        for waiter in [waiter for waiter in self._waiting if waiter.share is share]:
            self._end_wait(waiter)
            waiter.granted.set_result(False)

    def _drop_for(self, share: Share) -> bool:
        """Drop the largest response of the store that reads most, if that is more than this one reads."""
        held: Counter[str] = Counter()
        for body in self.bodies:
            held[body.share.owner] += body.share.size
        owner, most = max(held.items(), key=lambda item: item[1], default=("", 0))
        if owner == share.owner or most <= held[share.owner]:
            return False
        read = [body for body in self.bodies if body.share.owner == owner and not body.share.waits]
        if read:
            max(read, key=lambda body: body.share.size).drop()
        return bool(read)

    def __repr__(self) -> str:
        return f"<AnswerMemory used={self.used} of {self.limit} waiting={self.waiting}>"
