"""GeneratorState: cleans up what a generator made elsewhere, once its deadline is over or its owner gone."""

from collections.abc import Iterable

import msgspec

from syncret.config.meta import GroupKind, ObjectRef, is_object
from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.generators import GeneratorState
from syncret.config.resources.kinds import generator_ref
from syncret.daemon.core import conditions, generator_states
from syncret.daemon.core.conditions import seconds
from syncret.daemon.engine.reconciler import Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer, report_status
from syncret.daemon.engine.reconcilers.context import Failure, ReconcilerContext, is_looked_up
from syncret.daemon.engine.reconcilers.generators import clean_up
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import Malformed, SyncError


class GeneratorStateReconciler:
    """One record at a time. A clean-up that fails is told and tried again; the record stays until then."""

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

    def reads(self, kind: GroupKind) -> bool:
        """Generators, and what they take credentials from."""
        return is_looked_up(kind)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Wait for the deadline, then delete; once deleted, clean up and let go."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            return Outcome()
        resource = stored.as_type(GeneratorState)
        if resource.metadata.deletion_timestamp:
            return await self._clean_up(stored, resource, writes)
        stored = await ensure_finalizer(writes, stored, generator_states.FINALIZER)
        deadline = seconds(resource.spec.garbage_collection_deadline) if resource.spec is not None else None
        if deadline is None or deadline > self._context.clock.now():
            await self._tell(
                resource, writes, status=True, reason="Created", message="GeneratorState created"
            )
            return Outcome(deadline)
        await delete_if_there(writes, stored)
        return Outcome()

    async def _clean_up(self, stored: StoredObject, resource: GeneratorState, writes: Writes) -> Outcome:
        if generator_states.FINALIZER not in resource.metadata.finalizers:
            return Outcome()  # done; something else holds it
        try:
            if resource.spec is not None:
                if not is_object(resource.spec.resource) or not is_object(resource.spec.state):
                    raise Malformed("spec.resource and spec.state must be objects")
                await clean_up(self._context, resource.spec.resource, resource.spec.state)
        except SyncError as error:
            message = f"could not cleanup generator state: {error}"
            await self._tell(resource, writes, status=False, reason="Error", message=message)
            self._context.memory.failed(stored.ref, Failure(self._context.clock.now(), message, error.hint))
            self._context.events.event(stored.ref, warning=True, reason="CleanupFailed", message=message)
            return Outcome(failure=error)
        await drop_finalizer(writes, stored, generator_states.FINALIZER)
        self._context.memory.succeeded(stored.ref)
        return Outcome()

    async def _tell(
        self, resource: GeneratorState, writes: Writes, *, status: bool, reason: str, message: str
    ) -> None:
        verdict = conditions.ready(ConditionStatus, status=status, reason=reason, message=message)
        told = conditions.put(resource.status.conditions, verdict, now=self._context.clock.now())
        if told != resource.status.conditions:
            document = {"conditions": msgspec.to_builtins(told)}
            await report_status(self._context, writes, resource.ref, resource.metadata.uid, document)
