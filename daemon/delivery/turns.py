"""One turn after the other for each unit, process or server that is told: nothing is swapped while it reads.

All Deliveries of a unit whose changes are due have one turn: they go live together, one reload tells of all,
one proof is about all, and if it fails all go back.
"""

import asyncio
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.delivery.phases import Attempt, Outcome, Phase
from syncret.daemon.core.delivery.timing import Debounce, due, restart_allowed_at, together
from syncret.daemon.delivery.units import Told, Units, UnitState

GATHERING: Final = 5.0
"""Seconds that a turn waits at most for Deliveries that are due at the same time, and are still checked."""

_RESTARTS_KEPT: Final = 50


class Change(Struct, frozen=True, kw_only=True):
    """A change that is not delivered yet: when it was seen first and last, by the loop's time."""

    set: str
    first: float
    last: float
    debounce: Debounce
    min_interval: float = 0.0


class Member(Protocol):
    """A Delivery whose set is staged and checked, or live and owed a reload, in its turn."""

    @property
    def ref(self) -> ObjectRef: ...

    @property
    def phase(self) -> Phase: ...

    @property
    def tells(self) -> str:
        """The action on the unit that it asks for; empty if no unit is told."""
        ...

    async def swap(self) -> None:
        """Make all targets live; the phase is Swapped then, or Settled if that failed."""
        ...

    async def throttled(self, seconds: float) -> None:
        """Take in that a restart has to wait for so long."""
        ...

    async def begin_turn(self, attempt: Attempt | None) -> None: ...

    async def tell(self, *, revive: bool = False) -> Told:
        """Ask for the reload; `revive` also starts a unit again that the new set has killed."""
        ...

    async def told(self, told: Told, seconds: float) -> None:
        """Take in how the reload ended."""
        ...

    async def prove(self, before: UnitState | None) -> Told: ...

    async def proven(self, told: Told, seconds: float) -> None:
        """Take in how the proof ended, of all that had the turn."""
        ...

    async def go_back(self) -> None:
        """Make the previous set live everywhere again."""
        ...

    async def told_old(self, told: Told) -> None:
        """Take in how the reload of the previous set ended."""
        ...


class Turns:
    """The turns of one unit."""

    def __init__(self, name: str, units: Units, boot: str) -> None:
        self._name = name
        self._units = units
        self._boot = boot
        self._lock = asyncio.Lock()
        self._changes: dict[ObjectRef, Change] = {}
        self._present: set[ObjectRef] = set()
        self._waiting: list[Member] = []
        self._gathered = asyncio.Event()
        self._last_reload = float("-inf")
        self._restarts: list[float] = []

    def note(self, ref: ObjectRef, change: Change) -> float:
        """A change of a Delivery, which may be known already. Returns when its turn is, in loop time."""
        known = self._changes.get(ref)
        if known is not None:
            last = known.last if known.set == change.set else change.last
            change = Change(
                set=change.set,
                first=known.first,
                last=last,
                debounce=change.debounce,
                min_interval=change.min_interval,
            )
        self._changes[ref] = change
        changes = self._changes.values()
        not_before = self._last_reload + max(each.min_interval for each in changes)
        return due(
            together(each.debounce for each in changes),
            first=min(each.first for each in changes),
            last=max(each.last for each in changes),
            not_before=not_before,
        )

    @contextmanager
    def present(self, ref: ObjectRef) -> Generator[None, None, None]:
        """Within this block a Delivery is run, and may come to have a turn."""
        self._present.add(ref)
        try:
            yield
        finally:
            self._present.discard(ref)
            self._gathered.set()

    def drop(self, ref: ObjectRef) -> None:
        """The Delivery has nothing to deliver any more, or its set was refused."""
        self._changes.pop(ref, None)

    async def take(self, member: Member) -> None:
        """Have a turn: until the Delivery is settled, broken, or owed a reload that cannot be asked for."""
        self._waiting.append(member)
        self._gathered.set()
        try:
            async with self._lock:
                if member in self._waiting:
                    await self._gather()
                    batch, self._waiting = self._waiting, []
                    await self._deliver(batch)
        finally:
            self.drop(member.ref)
            if member in self._waiting:
                self._waiting.remove(member)

    async def _gather(self) -> None:
        """Wait for those that are looked at, staged or checked at this moment: they may have a turn, too."""
        end = asyncio.get_running_loop().time() + GATHERING
        while self._present - {each.ref for each in self._waiting}:
            self._gathered.clear()
            try:
                async with asyncio.timeout_at(end):
                    await self._gathered.wait()
            except TimeoutError:
                return

    async def _deliver(self, batch: Sequence[Member]) -> None:
        for member in batch:
            if member.phase is Phase.SWAPPING:
                await member.swap()
        live = [member for member in batch if member.phase is Phase.SWAPPED]
        if live:
            before = await self._tell(live)
            await self._prove([each for each in batch if each.phase is Phase.VERIFYING], before)
        else:
            await self._prove([each for each in batch if each.phase is Phase.VERIFYING], None)
        await self._back([each for each in batch if each.phase in (Phase.ROLLING_BACK, Phase.RELOADING_OLD)])

    async def _tell(self, live: Sequence[Member]) -> UnitState | None:
        """Tell once of all. Returns the state of the unit before that."""
        first = live[0]
        before = await self._units.show(self._name) if first.tells else None
        if first.tells == "restart":
            await self._wait_for_restart(live, before)
        attempt = Attempt(
            at=time.monotonic(),
            boot=self._boot,
            invocation="" if before is None else before.invocation,
            restarts=0 if before is None else before.restarts,
        )
        for member in live:
            await member.begin_turn(attempt)
        told, seconds = Told(outcome=Outcome.DONE), 0.0
        if first.phase is Phase.RELOADING:
            began = time.monotonic()
            told = await first.tell()
            seconds = time.monotonic() - began
            self._last_reload = asyncio.get_running_loop().time()
            for member in live:
                await member.told(told, seconds)
        return before

    async def _wait_for_restart(self, live: Sequence[Member], before: UnitState | None) -> None:
        """Restarts of a unit stay below its start limit: beyond it, systemd leaves the unit dead."""
        now = time.monotonic()
        wait = 0.0 if before is None else restart_allowed_at(before.start_limit, self._restarts, now) - now
        if wait > 0:
            for member in live:
                await member.throttled(wait)
            await asyncio.sleep(wait)
        self._restarts = [*self._restarts[-_RESTARTS_KEPT:], time.monotonic()]

    async def _prove(self, live: Sequence[Member], before: UnitState | None) -> None:
        began = time.monotonic()
        proofs = await asyncio.gather(*(member.prove(before) for member in live))
        failed = [each for each in proofs if each.outcome is not Outcome.DONE]
        for member in live:
            await member.proven(failed[0] if failed else proofs[0], time.monotonic() - began)

    async def _back(self, batch: Sequence[Member]) -> None:
        for member in batch:
            if member.phase is Phase.ROLLING_BACK:
                await member.go_back()
        owed = [member for member in batch if member.phase is Phase.RELOADING_OLD]
        if owed:
            told = await owed[0].tell(revive=True)
            for member in owed:
                await member.told_old(told)
