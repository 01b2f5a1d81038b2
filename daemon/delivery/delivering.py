"""One run of one Delivery: does the work of each phase, and writes its row before the next phase begins."""

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
from syncret.daemon.core.delivery.ready_condition import (
    ReadyCondition,
    condition_of,
    reload_not_requested,
    waiting_for_restart,
)
from syncret.daemon.core.delivery.record import (
    document_of,
    fingerprints_of,
    row_of,
    status_of,
    with_origin,
    with_result,
)
from syncret.daemon.core.delivery.recovery import Found, recover
from syncret.daemon.core.delivery.step import Step, StepListener, StepName, ignore_step, result_of
from syncret.daemon.core.plan.actions import Action
from syncret.daemon.delivery.commands import variables_of
from syncret.daemon.delivery.host_targets import HostTargets
from syncret.daemon.delivery.paths import Moved, Refused
from syncret.daemon.delivery.proving import Prover, check
from syncret.daemon.delivery.reading import has_unconfirmed
from syncret.daemon.delivery.reloading import reload_action, request_reload
from syncret.daemon.delivery.units import ActionResult, Units, UnitState, boot_id
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import HomeError, StoredObject

_LONGEST_MESSAGE: Final = 512


class Delivering:
    """One run of a Delivery. Implements BatchedDelivery of `turns`."""

    def __init__(
        self,
        context: ReconcilerContext,
        writes: Writes,
        stored: StoredObject,
        units: Units,
        *,
        fsync: bool,
        in_container: bool = False,
        reloads: bool = True,
        took_step: StepListener = ignore_step,
    ) -> None:
        """`reloads`: whether reload and healthy are carried out; without it only files are written."""
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
            reload=reloads and self.spec.reload is not None,
            keep=self.spec.on_failure == "keep",
        )
        self._proves = reloads and self.spec.healthy is not None
        self._skips_reload = not reloads and bool(self.spec.reload or self.spec.healthy)
        self.offer: Callable[[Row], None] = lambda _: None
        """Called with each row, to publish which credentials are live."""
        self._targets: Sequence[WantedTarget] = ()
        self._host = HostTargets(())

    def aim(self, targets: Sequence[WantedTarget], digest: str = "") -> None:
        """Set what the targets are to hold; by its digest it is seen whether that was delivered last."""
        self._targets = targets
        known = fingerprints_of(self.status) if digest and digest == self.row.live else {}
        self._host = HostTargets(targets, fsync=self._fsync, in_container=self._in_container, known=known)

    @property
    def generation(self) -> int:
        """The version of the spec."""
        return self._stored.generation

    def message(self) -> str:
        """The message of the condition."""
        condition = find(self.status.conditions)
        return "" if condition is None else condition.message

    def holds(self, action: Action) -> bool:
        """Whether the daemon only observes: the delivery is then noted instead of made."""
        return self._writes.holds(action)

    def live_files(self) -> dict[str, bytes]:
        """What is live, by path. Raises Refused and OSError."""
        return self._host.live()

    def took_step(self, name: StepName, *, result: str = "", action: str = "", began: float = 0.0) -> None:
        """Report a step to the listener; `began`: when one that is over began, by the monotonic clock."""
        now = time.monotonic()
        at = began or now
        self._listener(Step(ref=self.ref, name=name, at=at, result=result, action=action, seconds=now - at))

    async def settle_report(self) -> None:
        """Write how the last delivery ended, if the status reports another condition."""
        await self.save(self.row)

    async def are_right(self) -> bool:
        """Whether all targets are as wanted. Raises Refused and OSError."""
        return await asyncio.to_thread(self._host.are_right)

    @property
    def phase(self) -> Phase:
        """The phase; Settled if the row could not be written, which ends this run's part of a turn."""
        return self.row.phase if self.error is None else Phase.SETTLED

    @property
    def unit_action(self) -> str:
        """See BatchedDelivery."""
        reload = self.spec.reload
        return reload.action if self.steps.reload and reload is not None and reload.unit else ""

    async def save(
        self, row: Row, *, condition: ReadyCondition | None = None, due_at: float | None = None
    ) -> None:
        """Write the row to the status, before the work of its phase begins."""
        live = self.status.live
        is_new = bool(row.generation) and (live is None or live.generation != row.generation)
        status = status_of(
            self.status,
            row,
            now=self._context.clock.now(),
            places=[(each.name, each.sort) for each in self._targets],
            generation=self._stored.generation,
            condition=self._condition(row) if condition is None else condition,
            due_at=due_at,
            fingerprints=await asyncio.to_thread(self._host.fingerprints) if is_new else None,
        )
        is_from_cache = has_unconfirmed(self._context, self.spec, self.ref.namespace)
        status = with_origin(status, from_cache=is_from_cache)
        if status != self._written:
            await self._writes.update_status(self._stored, document_of(status))
        self.offer(row)
        self.row, self.status, self._written = row, status, status

    def _condition(self, row: Row) -> ReadyCondition | None:
        return condition_of(row, self.status, problem=self.problem, skips_reload=self._skips_reload)

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
        """Run the check, if there is one; Settled again if it fails. Raises HomeError."""
        if self.spec.check is None or self.row.phase is not Phase.CHECKING:
            return
        began = time.monotonic()
        try:
            result = await check(
                self.spec.check,
                self._units,
                views=self._host.views(),
                variables=self._variables("check"),
                values=self._values(),
            )
        except Refused as error:
            result = ActionResult(outcome=Outcome.FAILED, message=f"not run: {error} ({error.hint})")
        self._note("check", result, time.monotonic() - began)
        self.took_step("check", result=result_of(result.outcome), began=began)
        if result.outcome is not Outcome.DONE:
            await asyncio.to_thread(self._host.discard_staged)
            if not self.row.live:
                await asyncio.to_thread(self._host.discard_mount_points)
        await self.save(advance(self.row, result.outcome, self.steps))

    # ------------------------------------------------------------------------------------------- its turn
    async def swap(self) -> None:
        """See BatchedDelivery."""
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
                self.row = row  # written with the next phase; after a crash, recovery sees that it is swapped
                self.took_step("swap")
            else:
                await self.save(row)

    async def _undo(self) -> None:
        """After a swap that failed, restore all targets; if that fails too, the next run continues."""
        try:
            await asyncio.to_thread(self._host.undo, self.row)
        except (Refused, OSError, Moved) as error:
            message = f"set {self.row.generation + 1} is live in part: {self.problem}; {error}"
            condition = ReadyCondition(is_ready=False, reason=Reason.SWAP_FAILED, message=message)
            await self.save(self.row, condition=condition)
        else:
            await self.save(advance(self.row, Outcome.FAILED, self.steps))

    async def report_restart_delay(self, seconds: float) -> None:
        """See BatchedDelivery."""
        await self._guarded(self.save(self.row, condition=waiting_for_restart(self.row, seconds)))

    async def begin_turn(self, attempt: Attempt | None) -> None:
        """See BatchedDelivery."""
        self._context.is_live(self.ref)
        self.row = turn(self.row, attempt if self.steps.reload else None, self.steps)
        if self.steps.reload or self._proves:  # otherwise recovery needs no record of it
            await self._guarded(self.save(self.row))

    async def reload(self, *, revive: bool = False) -> ActionResult:
        """See BatchedDelivery."""
        if self.spec.reload is None:
            return ActionResult(outcome=Outcome.DONE)
        began = time.monotonic()
        try:
            result = await request_reload(
                self.spec.reload,
                self._units,
                variables=self._variables("reload"),
                values=self._values(),
                revive=revive,
            )
        except Refused as error:
            result = ActionResult(outcome=Outcome.NOT_ASKED, message=f"{error} ({error.hint})")
        action = reload_action(self.spec.reload)
        self.took_step("reload", result=result_of(result.outcome), action=action, began=began)
        return result

    async def after_reload(self, result: ActionResult, seconds: float) -> None:
        """See BatchedDelivery."""
        self._note("reload", result, seconds)
        if result.outcome is not Outcome.NOT_ASKED:
            self.took_step("reloaded", began=time.monotonic() - seconds)
        row = advance(self.row, result.outcome, self.steps)
        if row.phase is Phase.VERIFYING and not self._proves:
            self.row = row  # without a proof the next phase ends at once
            return
        not_asked = result.outcome is Outcome.NOT_ASKED
        condition = reload_not_requested(row, result.message) if not_asked else None
        await self._guarded(self.save(row, condition=condition))

    async def prove(self, before: UnitState | None) -> ActionResult:
        """See BatchedDelivery."""
        if not self._proves or self.spec.healthy is None:
            return ActionResult(outcome=Outcome.DONE)
        reload = self.spec.reload
        known = before is not None and reload is not None and reload.unit == self.spec.healthy.unit
        action = reload.action if known and reload is not None else "reload-or-restart"
        files = {name: each for target in self._targets for name, each in target.files.items() if name}
        prover = Prover(
            self.spec.healthy,
            self._units,
            files=files,
            variables=self._variables("healthy"),
            reload=(action, before if known else None),
        )
        try:
            return await prover.prove()
        except Refused as error:
            return ActionResult(outcome=Outcome.FAILED, message=f"{error} ({error.hint})")

    async def after_proof(self, result: ActionResult, seconds: float) -> None:
        """See BatchedDelivery."""
        if self._proves:
            self._note("healthy", result, seconds)
        elif result.outcome is not Outcome.DONE:
            self.problem = result.message
        await self._guarded(self.save(advance(self.row, result.outcome, self.steps)))

    async def roll_back(self) -> None:
        """See BatchedDelivery."""
        await self._guarded(self._roll_back())

    async def _roll_back(self) -> None:
        self.took_step("rollback")
        while self.row.phase is Phase.ROLLING_BACK:
            outcome = Outcome.DONE
            try:
                await asyncio.to_thread(self._host.swap_back, self.row)
            except (Refused, OSError, Moved) as error:
                self.problem, outcome = f"{self.problem}; {error}", Outcome.FAILED
            await self.save(advance(self.row, outcome, self.steps))

    async def after_rollback_reload(self, result: ActionResult) -> None:
        """See BatchedDelivery."""
        if result.outcome in (Outcome.FAILED, Outcome.NOT_ASKED):
            self.problem += f"; after the rollback: {result.message}"
        await self._guarded(self.save(advance(self.row, result.outcome, self.steps)))

    async def _guarded(self, work: Awaitable[None]) -> None:
        """Keep the error of a row that cannot be written: only this Delivery leaves the turn."""
        try:
            await work
        except HomeError as error:
            self.error = error

    # ------------------------------------------------------------------------------------- after a crash
    async def recover(self) -> bool:
        """Continue what an earlier run left. Returns whether a reload is requested that may have happened."""
        row, attempt = self.row, self.status.attempt
        places = tuple(each.name for each in self._targets)
        if attempt is None or attempt.places != places:  # other targets now: begin again
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
        reload, state = self.spec.reload, None
        if reload is not None and reload.unit and row.asked is not None:
            state = await self._units.show(reload.unit)
        return Found(
            boot=boot_id(),
            swapped=swapped,
            staged=await asyncio.to_thread(self._host.are_staged, swapped),
            unit=None if state is None else state.facts(),
            restarts=reload is not None and reload.action == "restart",
        )

    async def discard_previous(self) -> None:
        """Remove the set before the live one."""
        await asyncio.to_thread(self._host.discard_previous)

    async def remove(self) -> None:
        """Remove everything that was delivered."""
        await asyncio.to_thread(self._host.remove)

    # --------------------------------------------------------------------------------------------- helpers
    def _values(self) -> tuple[bytes, ...]:
        return tuple(content for target in self._targets for content in target.files.values())

    def _variables(self, phase: str) -> Mapping[str, str]:
        staged = [path for path, _ in self._host.views()] if phase == "check" else ()
        return variables_of(self.ref, phase, self.row.generation + 1, staged)

    def _note(self, step: str, result: ActionResult, seconds: float) -> None:
        failed = result.outcome in (Outcome.FAILED, Outcome.NOT_ASKED, Outcome.NOT_THERE)
        self.problem = result.message if failed else self.problem
        step_result = StepResult(
            result=result_of(result.outcome),
            at=stamp(self._context.clock.now()),
            took=format_duration(round(seconds, 3)),
            message=result.message[:_LONGEST_MESSAGE],
        )
        self.status = with_result(self.status, step, step_result)
