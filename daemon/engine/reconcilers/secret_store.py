"""SecretStore and ClusterSecretStore: whether it can be used, what it can do, and who still needs it."""

from collections.abc import Iterable

from msgspec import structs

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import PUSH_SECRET
from syncret.config.resources.push_secret import PushSecret
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core.plan.reachability import is_unreachable, report_reachable, report_unreachable
from syncret.daemon.core.plan.secret_store import (
    FINALIZER,
    Probe,
    Probed,
    is_needed_by,
    next_step,
    probed_now,
    report,
)
from syncret.daemon.engine.reconciler import ANY, Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer, publish
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import OverBudget, SyncError, Unavailable


class SecretStoreReconciler:
    """One of the two kinds of stores; they differ in scope alone."""

    def __init__(self, context: ReconcilerContext, kind: str) -> None:
        self._context = context
        self._probed: dict[ObjectRef, Probed] = {}
        self.group_kind = GroupKind(GROUP, kind)

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its credentials, and the PushSecrets that may still have something to delete here."""
        pushes = PUSH_SECRET.ref(stored.ref.namespace or ANY, ANY)
        yield Dependency(pushes, On.EXISTENCE | On.SPEC | On.DATA)
        for credential in self._context.sessions.credentials(stored):
            yield Dependency(credential, On.EXISTENCE | On.SPEC | On.DATA)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Keep the store while it is needed; probe it when it is new, changed or due."""
        context, stored = self._context, self._context.inventory.get(ref)
        if stored is None:
            self._probed.pop(ref, None)
            context.store_summaries.forget(ref)
            context.memory.forget(ref)
            return Outcome()
        store, now = _without_provider(stored.as_type(SecretStore)), context.clock.now()
        step = next_step(
            store,
            self._probed.get(ref),
            now,
            context.options,
            is_needed=self._is_needed(store, ref),
            is_in_doubt=context.sessions.is_in_doubt(ref),
        )
        if step.is_held is not None:
            change = ensure_finalizer if step.is_held else drop_finalizer
            stored = await change(writes, stored, FINALIZER)
        if step.is_probed:
            return await self._probe(stored, store, writes)
        if step.probed is None:
            context.memory.succeeded(ref)  # it is another controller's now
            return Outcome()
        self._probed[ref] = step.probed
        return await self._report_reachability(stored, store, writes, step.probed.due)

    async def _report_reachability(
        self, stored: StoredObject, store: SecretStore, writes: Writes, due: float
    ) -> Outcome:
        """Report whether the store answers: its calls show it between two probes; in doubt, probe it."""
        context, now = self._context, self._context.clock.now()
        answers, error = context.sessions.reachability(stored.ref)
        if answers == "unknown" and (error is not None or is_unreachable(store.status.conditions)):
            writes.check_asks()
            error = await self._unanswered(stored)
        report = (
            report_reachable(store, now, next_due=due)
            if error is None
            else report_unreachable(store, error, now, next_due=due)
        )
        return await publish(context, writes, stored, report)

    async def _unanswered(self, stored: StoredObject) -> Unavailable | None:
        """Probe the store. Returns the error if its server does not answer."""
        session = self._context.sessions.session(stored, stored.ref.namespace)
        try:
            await session.probe()
        except Unavailable as error:
            return error if error.problem else None
        except SyncError:
            pass  # an answer: whether the store is Ready is found out at its interval
        return None

    def _is_needed(self, store: SecretStore, ref: ObjectRef) -> bool:
        candidates = map(self._context.inventory.get, self._context.push_index.at(ref))
        return any(is_needed_by(push.as_type(PushSecret), store) for push in candidates if push is not None)

    async def _probe(self, stored: StoredObject, store: SecretStore, writes: Writes) -> Outcome:
        """Probe the store, and note the next probe before anything is written: a write may fail."""
        writes.check_asks()
        session = self._context.sessions.session(stored, stored.ref.namespace)
        failed, due = "unable to create client", None
        self._probed.pop(stored.ref, None)
        try:
            capabilities = await session.capabilities()
            failed = "unable to validate store"
            probe = Probe(await session.probe(), capabilities, is_maintained=session.is_maintained)
        except SyncError as error:
            placed = error.below("spec.provider") if isinstance(error, OverBudget) else error
            probe = Probe(failed=failed, error=placed)
        now = self._context.clock.now()
        if probe.error is None:
            probed = probed_now(store, now, self._context.options)
            due = probed.due
            if not writes.observes:  # else the result is not reported, and the store is probed again
                self._probed[stored.ref] = probed
        return await publish(self._context, writes, stored, report(store, probe, now, next_due=due))


def _without_provider(store: SecretStore) -> SecretStore:
    """The store without its provider's spec, which is the session's: a run that waits need not hold 15 MB."""
    spec = structs.replace(store.spec, provider={name: {} for name in store.spec.provider})
    return structs.replace(store, spec=spec)
