"""Gives the Deliveries of one unit, process or server turns, so that no set is swapped during a reload.

Deliveries of a unit that are due at the same time share one turn: their sets go live together, with one
reload and one proof, and if that fails all of them are rolled back.
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
from syncret.daemon.delivery.units import ActionResult, Units, UnitState

GATHERING: Final = 5.0
"""The longest wait, in seconds, of a turn for Deliveries that are due at the same time and still checked."""

_RESTARTS_KEPT: Final = 50


class Change(Struct, frozen=True, kw_only=True):
    """A change that is not delivered yet, and when it was seen first and last, in loop time."""

    set: str
    first: float
    last: float
    debounce: Debounce
    min_interval: float = 0.0


class BatchedDelivery(Protocol):
    """A Delivery in the batch of one turn: its set is staged and checked, or live and not reloaded."""

    @property
    def ref(self) -> ObjectRef: ...

    @property
    def phase(self) -> Phase: ...

    @property
    def unit_action(self) -> str:
        """The action on the unit that its reload asks for; empty if no unit is reloaded."""
        ...

    async def swap(self) -> None:
        """Make all targets live. The phase is then Swapped, or Settled if that failed."""
        ...

    async def report_restart_delay(self, seconds: float) -> None:
        """Report that the restart waits for so long."""
        ...

    async def begin_turn(self, attempt: Attempt | None) -> None:
        """Record the attempt before the reload is requested."""
        ...

    async def reload(self, *, revive: bool = False) -> ActionResult:
        """Request the reload, and wait for its end; `revive` starts a unit that has failed."""
        ...

    async def after_reload(self, result: ActionResult, seconds: float) -> None:
        """Record the result of the reload, and enter the next phase."""
        ...

    async def prove(self, before: UnitState | None) -> ActionResult:
        """Prove that the new set is in use; `before` is the state of the unit before the reload."""
        ...

    async def after_proof(self, result: ActionResult, seconds: float) -> None:
        """Record the result of the proof, which is that of the whole batch, and enter the next phase."""
        ...

    async def roll_back(self) -> None:
        """Make the previous set live again at all targets."""
        ...

    async def after_rollback_reload(self, result: ActionResult) -> None:
        """Record the result of the reload after a rollback."""
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
        self._waiting: list[BatchedDelivery] = []
        self._gathered = asyncio.Event()
        self._last_reload = float("-inf")
        self._restarts: list[float] = []

    def note(self, ref: ObjectRef, change: Change) -> float:
        """Note a change, which may be known already. Returns when its turn is due, in loop time."""
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
        """Mark a Delivery as being run within this block, so that a turn waits for it."""
        self._present.add(ref)
        try:
            yield
        finally:
            self._present.discard(ref)
            self._gathered.set()

    def drop(self, ref: ObjectRef) -> None:
        """Forget the change of a Delivery: it was delivered or refused, or there is nothing to deliver."""
        self._changes.pop(ref, None)

    async def take(self, delivery: BatchedDelivery) -> None:
        """Wait for a turn and go through it: the Delivery is then settled, broken, or not reloaded yet."""
        self._waiting.append(delivery)
        self._gathered.set()
        try:
            async with self._lock:
                if delivery in self._waiting:
                    await self._gather()
                    batch, self._waiting = self._waiting, []
                    await self._deliver(batch)
        finally:
            self.drop(delivery.ref)
            if delivery in self._waiting:
                self._waiting.remove(delivery)

    async def _gather(self) -> None:
        """Wait for Deliveries that are staged or checked at this moment, so that they share the turn."""
        end = asyncio.get_running_loop().time() + GATHERING
        while self._present - {each.ref for each in self._waiting}:
            self._gathered.clear()
            try:
                async with asyncio.timeout_at(end):
                    await self._gathered.wait()
            except TimeoutError:
                return

    async def _deliver(self, batch: Sequence[BatchedDelivery]) -> None:
        for each in batch:
            if each.phase is Phase.SWAPPING:
                await each.swap()
        live = [each for each in batch if each.phase is Phase.SWAPPED]
        if live:
            before = await self._reload(live)
            await self._prove([each for each in batch if each.phase is Phase.VERIFYING], before)
        else:
            await self._prove([each for each in batch if each.phase is Phase.VERIFYING], None)
        await self._roll_back(
            [each for each in batch if each.phase in (Phase.ROLLING_BACK, Phase.RELOADING_OLD)]
        )

    async def _reload(self, live: Sequence[BatchedDelivery]) -> UnitState | None:
        """Reload once for all of them. Returns the state of the unit before that."""
        first = live[0]
        before = await self._units.show(self._name) if first.unit_action else None
        if first.unit_action == "restart":
            await self._wait_for_restart(live, before)
        attempt = Attempt(
            at=time.monotonic(),
            boot=self._boot,
            invocation="" if before is None else before.invocation,
            restarts=0 if before is None else before.restarts,
        )
        for each in live:
            await each.begin_turn(attempt)
        if first.phase is Phase.RELOADING:
            began = time.monotonic()
            result = await first.reload()
            seconds = time.monotonic() - began
            self._last_reload = asyncio.get_running_loop().time()
            for each in live:
                await each.after_reload(result, seconds)
        return before

    async def _wait_for_restart(self, live: Sequence[BatchedDelivery], before: UnitState | None) -> None:
        """Wait until a restart stays below the unit's start limit, beyond which systemd does not start it."""
        now = time.monotonic()
        wait = 0.0 if before is None else restart_allowed_at(before.start_limit, self._restarts, now) - now
        if wait > 0:
            for each in live:
                await each.report_restart_delay(wait)
            await asyncio.sleep(wait)
        self._restarts = [*self._restarts[-_RESTARTS_KEPT:], time.monotonic()]

    async def _prove(self, live: Sequence[BatchedDelivery], before: UnitState | None) -> None:
        began = time.monotonic()
        proofs = await asyncio.gather(*(each.prove(before) for each in live))
        failed = [each for each in proofs if each.outcome is not Outcome.DONE]
        for each in live:
            await each.after_proof(failed[0] if failed else proofs[0], time.monotonic() - began)

    async def _roll_back(self, batch: Sequence[BatchedDelivery]) -> None:
        for each in batch:
            if each.phase is Phase.ROLLING_BACK:
                await each.roll_back()
        swapped_back = [each for each in batch if each.phase is Phase.RELOADING_OLD]
        if swapped_back:
            result = await swapped_back[0].reload(revive=True)
            for each in swapped_back:
                await each.after_rollback_reload(result)
