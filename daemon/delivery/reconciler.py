"""The reconciler of Deliveries: brings values from the home to where programs of this host read them."""

import asyncio
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from syncret.config.durations import parse_duration
from syncret.config.meta import Metadata, ObjectRef
from syncret.config.resources.delivery.credentials import given_credentials
from syncret.config.resources.delivery.delivery import Delivery, DeliverySpec
from syncret.config.resources.delivery.rules import places_of
from syncret.config.resources.kinds import CONFIG_MAP, DELIVERY, EXTERNAL_SECRET, SECRET
from syncret.config.settings import BoundFolder
from syncret.daemon.core.conditions import find
from syncret.daemon.core.delivery.assemble import SourceMissing, Unfit, set_digest
from syncret.daemon.core.delivery.claims import Claims
from syncret.daemon.core.delivery.file_targets import WantedTarget, bare_targets
from syncret.daemon.core.delivery.phases import Phase, Reason, Row, Wanted, is_wanted
from syncret.daemon.core.delivery.ready_condition import ReadyCondition
from syncret.daemon.core.delivery.recovery import adopted
from syncret.daemon.core.delivery.step import StepListener, ignore_step
from syncret.daemon.core.delivery.timing import Debounce
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.delivery.credentials.offering import OWN, Offering
from syncret.daemon.delivery.credentials.offers import Offers
from syncret.daemon.delivery.delivering import Delivering
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.delivery.reading import change_of, expires_in, stale_source, wanted_targets
from syncret.daemon.delivery.reloading import reload_key
from syncret.daemon.delivery.rights.allowed import check_author, check_places, check_rights
from syncret.daemon.delivery.turns import Change, Turns
from syncret.daemon.delivery.units import SystemctlUnits, Units, boot_id
from syncret.daemon.engine.reconciler import ANY, VALUES, Dependency, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import SyncError, Unavailable

FINALIZER: Final = "syncret.dev/delivery"
_SOON: Final = 0.5
_REPAIRS: Final = 3
_REPAIRS_WITHIN: Final = 600.0
_CONTENDED: Final = 3600.0
_SETTLED: Final = (Phase.SETTLED, Phase.BROKEN)
_GONE_WRONG: Final = (Reason.STAGE_FAILED, Reason.SWAP_FAILED)


class OnHost(Struct, frozen=True, kw_only=True):
    """What deliveries need to know about the host and the process."""

    key: bytes
    """The key of the digests of sets."""
    fsync: bool = True
    rescan: float = 45.0
    """Seconds after which live targets are compared again."""
    reserved: tuple[str, ...] = ()
    """Paths of the daemon itself: outputs, manifests, state."""
    bound: tuple[BoundFolder, ...] = ()
    """Bound folders: what their authors may deliver is limited by the settings."""
    once: bool = False
    """Whether this is one pass, in which nothing waits for more changes."""
    dry: bool = False
    """Whether nothing may be written or run."""
    in_container: bool = False
    """Whether this is a container, where volumes of the pod and read-only mounts are trusted."""
    took_step: StepListener = ignore_step
    """Called with each step of a delivery."""
    trusts_api: bool = False
    """Whether a Delivery from an API server may run commands and reload units."""
    offers: Offers | None = None
    """What units may ask for; None if there is no credential socket."""
    outputs: str = ""
    """The output folder, which also holds what units may ask for; empty if there is none."""

    def own_folder(self, ref: ObjectRef) -> str:
        """The folder in which the daemon keeps what a Delivery offers; OWN is no name of a namespace."""
        return f"{self.outputs}/{OWN}/{ref.namespace}/{ref.name}"


class _Memory(Struct, kw_only=True):
    """What this process remembers of one Delivery."""

    previous_until: float | None = 0.0
    """Until when the previous set stays; None if it was removed."""
    repairs: tuple[float, ...] = ()
    turns: Turns | None = None


class DeliveryReconciler:
    """Reconciles Deliveries; those that reload the same unit take turns."""

    group_kind = DELIVERY.group_kind

    def __init__(self, context: ReconcilerContext, host: OnHost, units: Units | None = None) -> None:
        self._context = context
        self._host = host
        self._units = units or SystemctlUnits()
        self._boot = boot_id()
        self._turns: dict[str, Turns] = {}
        self._claims = Claims()
        self._memory: dict[ObjectRef, _Memory] = {}
        self._offering = Offering(
            context, host.offers, host.own_folder, needs_socket=not (host.once or host.dry)
        )

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its sources; every Secret of the namespace where it selects by labels."""
        for source in stored.as_type(Delivery).spec.sources:
            if source.config_map:
                yield Dependency(CONFIG_MAP.ref(stored.ref.namespace, source.config_map), VALUES)
            else:
                yield Dependency(SECRET.ref(stored.ref.namespace, source.secret or ANY), VALUES)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Deliver what is due, repair drift, and continue what was interrupted."""
        context, stored = self._context, self._context.inventory.get(ref)
        if stored is None:
            self._forget(ref)
            return Outcome()
        metadata = stored.as_type(_Head).metadata
        if metadata.deletion_timestamp:
            return await self._delete(stored, writes)
        spec = stored.as_type(Delivery).spec
        if spec.deletion_policy == "Delete" and not (self._host.dry or writes.observes):
            stored = await ensure_finalizer(writes, stored, FINALIZER)
        request = context.memory.refresh_request(ref)
        outcome = await self._run(stored, writes, is_asked=request > 0)
        if outcome.failure is None:
            context.memory.clear_refresh_request(ref, request)
        return outcome

    async def _run(self, stored: StoredObject, writes: Writes, *, is_asked: bool) -> Outcome:
        run = self._delivering(stored, writes)
        run.aim(bare_targets(run.spec, self._host.own_folder(run.ref)))
        with self._turns_of(run).present(run.ref):
            return await self._bring_up(run, writes, is_asked=is_asked)

    def _delivering(self, stored: StoredObject, writes: Writes) -> Delivering:
        """In an init container, which does one pass, no program runs yet that could be reloaded."""
        host = self._host
        run = Delivering(
            self._context,
            writes,
            stored,
            self._units,
            fsync=host.fsync,
            in_container=host.in_container,
            reloads=not (host.once and host.in_container),
            took_step=host.took_step,
        )
        run.status = self._offering.reported(run.ref, run.status)
        return run

    async def _bring_up(self, run: Delivering, writes: Writes, *, is_asked: bool) -> Outcome:
        try:
            self._check_allowed(run.ref, run.spec)
        except Refused as error:
            return await self._report(run, Reason.REFUSED, str(error), error.hint)
        self._offering.begin(run)
        if run.spec.suspend:
            return await self._report(run, Reason.SUSPENDED, "what is live stays as it is")
        try:
            if run.row.phase not in _SETTLED and not (self._host.dry or writes.observes):
                await self._go_on(run)
        except (Refused, OSError) as error:
            return await self._report(run, Reason.REFUSED, str(error), getattr(error, "hint", ""))
        stale = None if self._host.dry else stale_source(self._context, run.spec, run.ref.namespace)
        if stale is not None:
            return await self._withdraw(run, stale)
        try:
            targets = await wanted_targets(self._context, run.spec, run.ref, self._host.own_folder(run.ref))
        except SourceMissing as error:
            return await self._missing(run, str(error))
        except (Unfit, SyncError) as error:
            return await self._report(run, Reason.REFUSED, str(error), getattr(error, "hint", ""))
        try:
            return await self._bring(run, targets, is_asked=is_asked)
        except (Refused, OSError) as error:
            return await self._report(run, Reason.REFUSED, str(error), getattr(error, "hint", ""))

    async def _go_on(self, run: Delivering) -> None:
        """Continue what an earlier run left, with what it staged."""
        if await run.recover():
            self._record_event(
                run, "ReloadRepeated", "a reload is requested that may have happened before", warning=True
            )
        if run.row.phase not in _SETTLED:
            await self._take_turn(run)

    async def _bring(self, run: Delivering, targets: list[WantedTarget], *, is_asked: bool) -> Outcome:
        """Deliver if that is wanted and due. Raises Refused and OSError."""
        digest = set_digest(self._host.key, {each.path: each.files for each in targets})
        run.aim(targets, digest)
        is_right = await run.are_right()
        if not run.row.generation and not run.row.rejected and is_right:
            await run.save(adopted(digest, digest))
        generation = run.status.observed_generation
        wanted = Wanted(
            set=digest,
            drifted=not is_right and digest == run.row.live,
            spec_changed=generation not in (0, run.generation),
            refreshed=is_asked,
        )
        turns, memory = self._turns_of(run), self._known(run.ref)
        if not is_wanted(run.row, wanted):
            turns.drop(run.ref)
            return await self._rest(run, memory)
        run.took_step("due")
        action = change_of(run.ref, run.spec, run.live_files(), targets)
        if self._host.dry or run.holds(action):
            self._context.applied(run.ref, action)
            return Outcome()
        loop_now = asyncio.get_running_loop().time()
        if wanted.drifted and (contended := self._contended(memory, loop_now)) > 0:
            return await self._report(
                run, Reason.CONTENDED, "another program keeps changing what is delivered", due_in=contended
            )
        wait = turns.note(run.ref, self._change(run, digest, loop_now, is_asked=is_asked)) - loop_now
        if wait > 0:
            due = self._context.clock.now() + wait
            await run.save(run.row, due_at=due)
            return Outcome(due, pending=True)
        await run.stage(wanted)
        if run.row.phase is Phase.CHECKING:
            await run.check()
        if run.row.phase in _SETTLED:
            turns.drop(run.ref)
        else:
            await self._take_turn(run)
        if wanted.drifted and run.row.reason is Reason.DELIVERED:
            memory.repairs = (*memory.repairs, loop_now)[-_REPAIRS:]
            run.took_step("repair")
            self._record_event(run, "Repaired", "another program changed what is live; it is delivered again")
        if run.row.phase is Phase.SETTLED and run.row.live == digest:
            self._context.applied(run.ref, action)
        memory.previous_until = self._context.clock.now() + parse_duration(run.spec.keep_old)
        return await self._ended(run, memory)

    def _change(self, run: Delivering, digest: str, now: float, *, is_asked: bool) -> Change:
        spec = run.spec
        quiet, at_most = parse_duration(spec.debounce.quiet), parse_duration(spec.debounce.at_most)
        at_once = self._host.once or is_asked or not (run.row.generation and run.live_files())
        return Change(
            set=digest,
            first=now,
            last=now,
            debounce=Debounce(0.0, 0.0) if at_once else Debounce(quiet, at_most),
            min_interval=0.0 if at_once else parse_duration(spec.min_interval),
        )

    async def _take_turn(self, run: Delivering) -> None:
        await self._turns_of(run).take(run)
        if run.error is not None:
            raise run.error

    async def _ended(self, run: Delivering, memory: _Memory) -> Outcome:
        """Record how a delivery ended, and return when the next run is due."""
        row, condition = run.row, find(run.status.conditions)
        if condition is not None:
            is_good = row.reason is Reason.DELIVERED and row.phase is Phase.SETTLED
            self._record_event(run, condition.reason, condition.message, warning=not is_good)
        if row.reason in _GONE_WRONG:
            return Outcome(failure=self._failed(run, run.message()))
        return await self._rest(run, memory)

    async def _rest(self, run: Delivering, memory: _Memory) -> Outcome:
        """Nothing is to be delivered now: remove the previous set once its time is over, and requeue."""
        if run.row.phase not in _SETTLED:
            run.took_step("due")
            return Outcome(failure=self._failed(run, run.message()))
        run.took_step("over")
        now = self._context.clock.now()
        due = now + self._host.rescan
        await run.settle_report()
        if run.row.reason is Reason.DELIVERED:
            self._context.memory.succeeded(run.ref)
        else:
            self._failed(run, run.message())
        if self._host.dry:
            return Outcome()
        expiry = expires_in(self._context, run.spec, run.ref.namespace)
        due = due if expiry is None else min(due, now + expiry)
        until = memory.previous_until
        if until is not None and run.row.phase is Phase.SETTLED:
            if until <= now:
                await run.discard_previous()
                memory.previous_until = None
            else:
                due = min(due, until)
        return Outcome(due)

    async def _missing(self, run: Delivering, message: str) -> Outcome:
        """A source is missing: wait for the first run of every ExternalSecret, then report it."""
        others = self._context.inventory.list(EXTERNAL_SECRET.group_kind, run.ref.namespace)
        if any(not self._context.memory.had_first_run(each.ref) for each in others):
            return Outcome(self._context.clock.now() + _SOON, pending=True)
        return await self._report(run, Reason.SOURCE_MISSING, message)

    async def _withdraw(self, run: Delivering, message: str) -> Outcome:
        """Remove what is live without a reload: programs that run keep what they have read."""
        if run.row.live:
            await run.remove()
            await run.save(Row(generation=run.row.generation, reason=Reason.SOURCE_STALE))
            self._record_event(run, "Withdrawn", message, warning=True)
        hint = "values that their store confirms are delivered again"
        return await self._report(run, Reason.SOURCE_STALE, message, hint)

    async def _report(
        self, run: Delivering, reason: Reason, message: str, hint: str = "", *, due_in: float | None = None
    ) -> Outcome:
        """Report why nothing is delivered; what is live stays."""
        self._turns_of(run).drop(run.ref)
        run.took_step("over" if run.row.phase in _SETTLED else "due")
        text = f"{message} ({hint})" if hint else message
        if not self._host.dry:
            condition = ReadyCondition(is_ready=reason is Reason.SUSPENDED, reason=reason, message=text)
            await run.save(run.row, condition=condition)
        if reason is Reason.SUSPENDED:
            self._context.memory.succeeded(run.ref)
        else:
            if self._context.memory.failure(run.ref) is None:
                self._record_event(run, reason.value, text, warning=True)
            self._context.memory.failed(run.ref, LastError(self._context.clock.now(), message, hint))
        return Outcome(self._context.clock.now() + (due_in or self._host.rescan))

    def _failed(self, run: Delivering, message: str) -> SyncError:
        self._context.memory.failed(run.ref, LastError(self._context.clock.now(), message))
        return Unavailable(message)

    def _check_allowed(self, ref: ObjectRef, spec: DeliverySpec) -> None:
        """Raise Refused if the Delivery may not be carried out here."""
        if spec.max_stale and self._context.cache is None:
            raise Refused("spec.maxStale: there is no offline cache, which knows ages", "set cache.key")
        check_places(spec, self._host.reserved)
        self._offering.check(spec)
        taken = self._claims.claim(
            ref, [*(place.path for place in places_of(spec)), *given_credentials(spec)]
        )
        if taken is not None:
            path, other = taken
            raise Refused(f"{path}: also delivered by {other.kind}/{other.name}", "one path, one Delivery")
        manifest = self._context.home.manifest_of(ref)
        file, host = None if manifest is None else manifest.file, self._host
        check_author(spec, file, host.bound, in_container=host.in_container, trusts_api=host.trusts_api)
        if not self._host.dry:  # the user of a plan has other rights
            check_rights(spec.check)

    async def _delete(self, stored: StoredObject, writes: Writes) -> Outcome:
        run = self._delivering(stored, writes)
        if run.spec.deletion_policy == "Delete" and not (self._host.dry or writes.observes):
            run.aim(bare_targets(run.spec, self._host.own_folder(run.ref)))
            await run.remove()
        await drop_finalizer(writes, stored, FINALIZER)
        return Outcome()

    def _contended(self, memory: _Memory, now: float) -> float:
        """Seconds until a target that another program keeps changing is repaired again."""
        recent = [each for each in memory.repairs if each > now - _REPAIRS_WITHIN]
        return max(0.0, memory.repairs[-1] + _CONTENDED - now) if len(recent) >= _REPAIRS else 0.0

    def _turns_of(self, run: Delivering) -> Turns:
        key = reload_key(run.spec.reload) or str(run.ref)
        turns = self._turns.get(key)
        if turns is None:
            turns = self._turns[key] = Turns(key, self._units, self._boot)
        known = self._known(run.ref)
        if known.turns is not None and known.turns is not turns:
            known.turns.drop(run.ref)
        known.turns = turns
        return turns

    def _known(self, ref: ObjectRef) -> _Memory:
        return self._memory.setdefault(ref, _Memory())

    def _forget(self, ref: ObjectRef) -> None:
        known = self._memory.pop(ref, None)
        if known is not None and known.turns is not None:
            known.turns.drop(ref)
        self._claims.release(ref)
        self._offering.forget(ref)
        self._context.memory.forget(ref)

    def _record_event(self, run: Delivering, reason: str, message: str, *, warning: bool = False) -> None:
        self._context.events.event(run.ref, warning=warning, reason=reason, message=message)


class _Head(Struct):
    metadata: Metadata
