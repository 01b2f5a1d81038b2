"""GeneratorState: cleans up what a generator made elsewhere, once its deadline is over or its owner gone."""

from collections.abc import Iterable

from syncret.config.meta import ObjectRef, is_object
from syncret.config.resources.generators import GeneratorState
from syncret.config.resources.kinds import generator_ref
from syncret.daemon.core import generator_states
from syncret.daemon.core.plan.actions import Report
from syncret.daemon.core.plan.generator_state import (
    AddFinalizer,
    CleanUp,
    Conclude,
    Delete,
    Sleep,
    next_step,
    report,
)
from syncret.daemon.engine.reconciler import Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer, publish
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.generators import clean_up
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import SyncError


class GeneratorStateReconciler:
    """One record at a time; it stays until what it records has been cleaned up."""

    group_kind = generator_states.KIND

    def __init__(self, context: ReconcilerContext) -> None:
        self._context = context

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its generator: a clean-up that failed may succeed once that has changed."""
        spec = stored.as_type(GeneratorState).spec
        if spec is not None and is_object(spec.resource):
            kind, metadata = spec.resource.get("kind"), spec.resource.get("metadata")
            name = metadata.get("name") if is_object(metadata) else None
            if isinstance(kind, str) and isinstance(name, str):
                generator = generator_ref(kind, name, stored.ref.namespace)
                yield Dependency(generator, On.EXISTENCE | On.SPEC)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Wait for the deadline, then delete; once deleted, clean up and drop the finalizer."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            return Outcome()
        return await publish(self._context, writes, stored, await self._carry_out(stored, writes))

    async def _carry_out(self, stored: StoredObject, writes: Writes) -> Report:
        record, now = stored.as_type(GeneratorState), self._context.clock.now()
        match next_step(record, now):
            case AddFinalizer():
                stored = await ensure_finalizer(writes, stored, generator_states.FINALIZER)
                return await self._carry_out(stored, writes)
            case Sleep(next_due):
                return report(record, now, next_due=next_due)
            case Delete():
                await delete_if_there(writes, stored)
                return Report()
            case CleanUp(generator, state):
                writes.check_ours()
                try:
                    await clean_up(self._context, generator, state)
                except SyncError as error:
                    return report(record, now, error=error)
            case Conclude(error):
                if error is not None:
                    return report(record, now, error=error)
        await drop_finalizer(writes, stored, generator_states.FINALIZER)
        return Report()
