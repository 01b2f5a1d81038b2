"""One run of one Delivery: the work of each phase, and the row that is written before the next begins."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from syncret.config.durations import format_duration
from syncret.config.resources.delivery.delivery import Delivery
from syncret.config.resources.delivery.status import StepResult
from syncret.daemon.core.conditions import find, stamp
from syncret.daemon.core.delivery.file_targets import WantedTarget
from syncret.daemon.core.delivery.phases import (
    Attempt,
    Outcome,
    Phase,
    Reason,
    Row,
    Steps,
    Wanted,
    advance,
    begin,
    turn,
)
from syncret.daemon.core.delivery.record import (
    document_of,
    fingerprints_of,
    row_of,
    status_of,
    with_origin,
    with_result,
)
from syncret.daemon.core.delivery.recovery import Found, UnitFacts, recover
from syncret.daemon.core.delivery.saying import Say, say_of, waits_to_restart
from syncret.daemon.core.delivery.step import Step, StepListener, StepName, ignore_step, result_of
from syncret.daemon.core.plan.actions import Action
from syncret.daemon.delivery.host_targets import HostTargets
from syncret.daemon.delivery.paths import Moved, Refused
from syncret.daemon.delivery.proving import Prover, check
from syncret.daemon.delivery.reading import has_unconfirmed
from syncret.daemon.delivery.telling import action_of, tell
from syncret.daemon.delivery.units import Told, Units, UnitState, boot_id
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import HomeError, StoredObject

_LONGEST_MESSAGE: Final = 512


class Delivering:
    """The Delivery as one run finds it. Implements Member of `turns`."""

    def __init__(
        self,
        context: ReconcilerContext,
        writes: Writes,
        stored: StoredObject,
        units: Units,
        *,
        fsync: bool,
        in_container: bool = False,
        tells: bool = True,
        took_step: StepListener = ignore_step,
    ) -> None:
        self.ref = stored.ref
        self.spec = stored.as_type(Delivery).spec
        self.status = stored.as_type(Delivery).status
        self._written = self.status
        self.row = row_of(self.status)
        self.error: HomeError | None = None
        self.problem = ""
        """Why the last step failed, for people."""
        self._context = context
        self._writes = writes
        self._stored = stored
        self._units = units
        self._fsync = fsync
        self._in_container = in_container
        self._listener = took_step
        self.steps = Steps(
            check=self.spec.check is not None,
            reload=tells and self.spec.reload is not None,
            keep=self.spec.on_failure == "keep",
        )
        self._proves = tells and self.spec.healthy is not None
        self._leaves_out = not tells and bool(self.spec.reload or self.spec.healthy)
        self.offer: Callable[[Row], None] = lambda _: None
        """Called with each row: what is live may be answered for."""
        self._targets: Sequence[WantedTarget] = ()
        self._host = HostTargets(())

    def aim(self, targets: Sequence[WantedTarget], digest: str = "") -> None:
        """Say what the targets are to hold, and by its digest whether that is what was delivered last."""
        self._targets = targets
        known = fingerprints_of(self.status) if digest and digest == self.row.live else {}
        self._host = HostTargets(targets, fsync=self._fsync, in_container=self._in_container, known=known)

    @property
    def generation(self) -> int:
        """The version of the spec."""
        return self._stored.generation

    def message(self) -> str:
        """What the condition says."""
        condition = find(self.status.conditions)
        return "" if condition is None else condition.message

    def holds(self, action: Action) -> bool:
        """Whether nothing may be written now, and the delivery is noted instead."""
        return self._writes.holds(action)

    def live_files(self) -> dict[str, bytes]:
        """What is live, by path. Raises Refused and OSError."""
        return self._host.live()

    def took_step(self, name: StepName, *, result: str = "", action: str = "", began: float = 0.0) -> None:
        """Tell of a step: of one that is over when it began, by the monotonic clock."""
        now = time.monotonic()
        at = began or now
        self._listener(Step(ref=self.ref, name=name, at=at, result=result, action=action, seconds=now - at))

    async def settle_report(self) -> None:
        """Say how the last delivery ended, if the status says something else."""
        await self.save(self.row)

    async def are_right(self) -> bool:
        """Whether all targets are as they should be. Raises Refused and OSError."""
        return await asyncio.to_thread(self._host.are_right)

    @property
    def phase(self) -> Phase:
        """The phase; a run whose row could not be written takes no further part."""
        return self.row.phase if self.error is None else Phase.SETTLED

    @property
    def tells(self) -> str:
        """As `Member` says."""
        reload = self.spec.reload
        return reload.action if self.steps.reload and reload is not None and reload.unit else ""

    async def save(self, row: Row, *, say: Say | None = None, due_at: float | None = None) -> None:
        """Make the row durable; nothing that it names has begun before."""
        live = self.status.live
        is_new = bool(row.generation) and (live is None or live.generation != row.generation)
        status = status_of(
            self.status,
            row,
            now=self._context.clock.now(),
            places=[(each.name, each.sort) for each in self._targets],
            generation=self._stored.generation,
            say=self._say(row) if say is None else say,
            due_at=due_at,
            fingerprints=await asyncio.to_thread(self._host.fingerprints) if is_new else None,
        )
        is_from_cache = has_unconfirmed(self._context, self.spec, self.ref.namespace)
        status = with_origin(status, from_cache=is_from_cache)
        if status != self._written:
            await self._writes.update_status(self._stored, document_of(status))
        self.offer(row)
        self.row, self.status, self._written = row, status, status

    def _say(self, row: Row) -> Say | None:
        return say_of(row, self.status, problem=self.problem, leaves_out=self._leaves_out)

    # ------------------------------------------------------------------------------------ before the swap
    async def stage(self, wanted: Wanted) -> None:
        """Write the set beside the live one; Settled again if that fails. Raises HomeError."""
        await self.save(begin(self.row, wanted, len(self._targets)))
        self.problem = ""
        try:
            staged = await asyncio.to_thread(self._host.stage, self.row)
        except (Refused, OSError, Moved) as error:
            hint = getattr(error, "hint", "")
            self.problem = f"{error} ({hint})" if hint else str(error)
            await self.save(advance(self.row, Outcome.FAILED, self.steps))
            return
        await self.save(advance(replace(self.row, staged=staged), Outcome.DONE, self.steps))

    async def check(self) -> None:
        """Ask the check, if there is one; Settled again if it does not agree. Raises HomeError."""
        if self.spec.check is None or self.row.phase is not Phase.CHECKING:
            return
        began = time.monotonic()
        try:
            told = await check(
                self.spec.check,
                self._units,
                views=self._host.views(),
                variables=self._variables("check"),
                values=self._values(),
            )
        except Refused as error:
            told = Told(outcome=Outcome.FAILED, message=f"not run: {error} ({error.hint})")
        self._note("check", told, time.monotonic() - began)
        self.took_step("check", result=result_of(told.outcome), began=began)
        if told.outcome is not Outcome.DONE:
            await asyncio.to_thread(self._host.discard_staged)
            if not self.row.live:
                await asyncio.to_thread(self._host.discard_mount_points)
        await self.save(advance(self.row, told.outcome, self.steps))

    # ------------------------------------------------------------------------------------------- its turn
    async def swap(self) -> None:
        """As `Member` says."""
        await self._guarded(self._swap())

    async def _swap(self) -> None:
        while self.row.phase is Phase.SWAPPING:
            try:
                await asyncio.to_thread(self._host.swap, self.row)
            except (Refused, OSError, Moved) as error:
                self.problem = str(error)
                await self._undo()
                return
            row = advance(self.row, Outcome.DONE, self.steps)
            if row.phase is Phase.SWAPPED:
                self.row = row  # written with the next phase: a crash before that finds it swapped
                self.took_step("swap")
            else:
                await self.save(row)

    async def _undo(self) -> None:
        """After a swap that failed: all targets as before; if that fails too, the next run goes on."""
        try:
            await asyncio.to_thread(self._host.undo, self.row)
        except (Refused, OSError, Moved) as error:
            said = f"set {self.row.generation + 1} is live in part: {self.problem}; {error}"
            await self.save(self.row, say=Say(is_ready=False, reason=Reason.SWAP_FAILED, message=said))
        else:
            await self.save(advance(self.row, Outcome.FAILED, self.steps))

    async def throttled(self, seconds: float) -> None:
        """As `Member` says."""
        await self._guarded(self.save(self.row, say=waits_to_restart(self.row, seconds)))

    async def begin_turn(self, attempt: Attempt | None) -> None:
        """As `Member` says."""
        self._context.is_live(self.ref)
        self.row = turn(self.row, attempt if self.steps.reload else None, self.steps)
        if self.steps.reload or self._proves:  # otherwise nothing begins that a crash would have to know of
            await self._guarded(self.save(self.row))

    async def tell(self, *, revive: bool = False) -> Told:
        """As `Member` says."""
        if self.spec.reload is None:
            return Told(outcome=Outcome.DONE)
        began = time.monotonic()
        try:
            told = await tell(
                self.spec.reload,
                self._units,
                variables=self._variables("reload"),
                values=self._values(),
                revive=revive,
            )
        except Refused as error:
            told = Told(outcome=Outcome.NOT_ASKED, message=f"{error} ({error.hint})")
        action = action_of(self.spec.reload)
        self.took_step("reload", result=result_of(told.outcome), action=action, began=began)
        return told

    async def told(self, told: Told, seconds: float) -> None:
        """As `Member` says."""
        self._note("reload", told, seconds)
        if told.outcome is not Outcome.NOT_ASKED:
            self.took_step("told", began=time.monotonic() - seconds)
        row = advance(self.row, told.outcome, self.steps)
        if row.phase is Phase.VERIFYING and not self._proves:
            self.row = row  # it is over in the same moment
            return
        say = None
        if told.outcome is Outcome.NOT_ASKED:
            said = f"set {row.generation + 1} is live, and a reload is owed: {told.message}"
            say = Say(is_ready=False, reason=Reason.RELOAD_FAILED, message=said)
        await self._guarded(self.save(row, say=say))

    async def prove(self, before: UnitState | None) -> Told:
        """As `Member` says."""
        if not self._proves or self.spec.healthy is None:
            return Told(outcome=Outcome.DONE)
        reload = self.spec.reload
        known = before is not None and reload is not None and reload.unit == self.spec.healthy.unit
        action = reload.action if known and reload is not None else "reload-or-restart"
        files = {name: each for target in self._targets for name, each in target.files.items() if name}
        prover = Prover(
            self.spec.healthy,
            self._units,
            files=files,
            variables=self._variables("healthy"),
            told=(action, before if known else None),
        )
        try:
            return await prover.prove()
        except Refused as error:
            return Told(outcome=Outcome.FAILED, message=f"{error} ({error.hint})")

    async def proven(self, told: Told, seconds: float) -> None:
        """As `Member` says."""
        if self._proves:
            self._note("healthy", told, seconds)
        elif told.outcome is not Outcome.DONE:
            self.problem = told.message
        await self._guarded(self.save(advance(self.row, told.outcome, self.steps)))

    async def go_back(self) -> None:
        """As `Member` says."""
        await self._guarded(self._go_back())

    async def _go_back(self) -> None:
        self.took_step("rollback")
        while self.row.phase is Phase.ROLLING_BACK:
            outcome = Outcome.DONE
            try:
                await asyncio.to_thread(self._host.swap_back, self.row)
            except (Refused, OSError, Moved) as error:
                self.problem, outcome = f"{self.problem}; {error}", Outcome.FAILED
            await self.save(advance(self.row, outcome, self.steps))

    async def told_old(self, told: Told) -> None:
        """As `Member` says."""
        if told.outcome in (Outcome.FAILED, Outcome.NOT_ASKED):
            self.problem += f"; of the set before: {told.message}"
        await self._guarded(self.save(advance(self.row, told.outcome, self.steps)))

    async def _guarded(self, work: Awaitable[None]) -> None:
        """A row that cannot be written ends this Delivery's part of a turn, and no other's."""
        try:
            await work
        except HomeError as error:
            self.error = error

    # ------------------------------------------------------------------------------------- after a crash
    async def recover(self) -> bool:
        """Go on with what an earlier run left. Whether a reload is asked for that may have happened."""
        row, attempt = self.row, self.status.attempt
        places = tuple(each.name for each in self._targets)
        if attempt is None or attempt.places != places:  # other targets now: what is there is looked at anew
            await asyncio.to_thread(self._host.discard_staged)
            await self.save(Row(generation=row.generation, live="", reason=Reason.PENDING))
            return False
        found = await self._found(row)
        if row.phase in (Phase.SWAPPING, Phase.ROLLING_BACK):
            await asyncio.to_thread(self._host.finish, row)
        recovered = recover(row, found, self.steps)
        if recovered.discard:
            await asyncio.to_thread(self._host.discard_staged)
        await self.save(recovered.row)
        return recovered.repeated

    async def _found(self, row: Row) -> Found:
        swapped = await asyncio.to_thread(self._host.swapped, row)
        reload, unit = self.spec.reload, None
        if reload is not None and reload.unit and row.asked is not None:
            state = await self._units.show(reload.unit)
            if state is not None:
                unit = UnitFacts(
                    invocation=state.invocation, started=state.started, runs=state.active != "failed"
                )
        return Found(
            boot=boot_id(),
            swapped=swapped,
            staged=await asyncio.to_thread(self._host.are_staged, swapped),
            unit=unit,
            restarts=reload is not None and reload.action == "restart",
        )

    async def discard_previous(self) -> None:
        """Remove the set before the live one."""
        await asyncio.to_thread(self._host.discard_previous)

    async def remove(self) -> None:
        """Remove all that is delivered."""
        await asyncio.to_thread(self._host.remove)

    # --------------------------------------------------------------------------------------------- helpers
    def _values(self) -> tuple[bytes, ...]:
        return tuple(content for target in self._targets for content in target.files.values())

    def _variables(self, phase: str) -> Mapping[str, str]:
        staged = {f"SYNCRET_STAGED_{number}": path for number, (path, _) in enumerate(self._host.views(), 1)}
        return {
            "SYNCRET_DELIVERY": f"{self.ref.namespace}/{self.ref.name}",
            "SYNCRET_PHASE": phase,
            "SYNCRET_GENERATION": str(self.row.generation + 1),
            **(staged if phase == "check" else {}),
        }

    def _note(self, step: str, told: Told, seconds: float) -> None:
        failed = told.outcome in (Outcome.FAILED, Outcome.NOT_ASKED, Outcome.NOT_THERE)
        self.problem = told.message if failed else self.problem
        result = StepResult(
            result=result_of(told.outcome),
            at=stamp(self._context.clock.now()),
            took=format_duration(round(seconds, 3)),
            message=told.message[:_LONGEST_MESSAGE],
        )
        self.status = with_result(self.status, step, result)
