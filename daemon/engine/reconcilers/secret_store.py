"""SecretStore and ClusterSecretStore: whether it can be used, what it can do, and who still needs it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from syncret.config.durations import DurationError
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.base import GROUP, ConditionStatus
from syncret.config.resources.kinds import PUSH_SECRET
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core import conditions
from syncret.daemon.core.selectors import matches
from syncret.daemon.engine.reconciler import ANY, Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer, report_status
from syncret.daemon.engine.reconcilers.context import Failure, ReconcilerContext, is_looked_up
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import Malformed, SyncError

FINALIZER: Final = "secretstore.externalsecrets.io/finalizer"


class _Probed(NamedTuple):
    """Which life and spec of a store was probed last, and when it is to be probed again."""

    uid: str
    generation: int
    due: float


class SecretStoreReconciler:
    """One of the two kinds of stores; they differ in scope alone."""

    def __init__(self, context: ReconcilerContext, kind: str) -> None:
        self._context = context
        self._probed: dict[ObjectRef, _Probed] = {}
        self.group_kind = GroupKind(GROUP, kind)

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its credentials, and the PushSecrets that may still have something to delete here."""
        pushes = PUSH_SECRET.ref(stored.ref.namespace or ANY, ANY)
        yield Dependency(pushes, On.EXISTENCE | On.SPEC | On.DATA)
        for credential in self._context.sessions.credentials(stored):
            yield Dependency(credential, On.EXISTENCE | On.SPEC | On.DATA)

    def reads(self, kind: GroupKind) -> bool:
        """PushSecrets, and what a store takes credentials from."""
        return is_looked_up(kind)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Keep the store while it is needed; probe it when it is new, changed or due."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._probed.pop(ref, None)
            self._context.store_summaries.forget(ref)
            self._context.memory.forget(ref)
            return Outcome()
        store = stored.as_type(SecretStore)
        if not self._context.handles(store.spec.controller):
            self._context.memory.succeeded(ref)  # what it failed at is another controller's now
            return Outcome()
        if not self._is_needed(store, ref):
            stored = await drop_finalizer(writes, stored, FINALIZER)
        elif not store.metadata.deletion_timestamp:
            stored = await ensure_finalizer(writes, stored, FINALIZER)
        if store.metadata.deletion_timestamp:
            return Outcome()
        due = self._probe_due(store, ref)
        return Outcome(due) if due > self._context.clock.now() else await self._probe(stored, store, writes)

    def _is_needed(self, store: SecretStore, ref: ObjectRef) -> bool:
        """Whether a PushSecret that cleans up after itself pushes to this store, or once did."""
        pushes = self._context.inventory.list(PUSH_SECRET.group_kind, ref.namespace or None)
        return any(_needs(push, store, ref) for push in (stored.as_type(PushSecret) for stored in pushes))

    def _interval(self, store: SecretStore) -> float:
        try:
            return store.spec.refresh_seconds() or self._context.options.store_interval
        except DurationError:  # admission refuses it, but it may have been passed over
            return self._context.options.store_interval

    def _probe_due(self, store: SecretStore, ref: ObjectRef) -> float:
        """When to probe. A store that an earlier life found ready is believed until then."""
        probed, now = self._probed.get(ref), self._context.clock.now()
        if probed is not None and (probed.uid, probed.generation) == (
            store.metadata.uid,
            store.metadata.generation,
        ):
            return probed.due
        verdict = conditions.find(store.status.conditions)
        if probed is None and verdict is not None and verdict.status == "True":
            return self._booked(store, ref, now + self._interval(store))
        return now

    def _booked(self, store: SecretStore, ref: ObjectRef, due: float) -> float:
        self._probed[ref] = _Probed(store.metadata.uid, store.metadata.generation, due)
        return due

    async def _probe(self, stored: StoredObject, store: SecretStore, writes: Writes) -> Outcome:
        session = self._context.sessions.session(stored, stored.ref.namespace)
        step = "unable to create client"
        try:
            capabilities = await session.capabilities()
            step = "unable to validate store"
            readiness = await session.probe()
        except SyncError as error:
            self._probed.pop(stored.ref, None)
            return await self._failed(stored, store, writes, step, error)
        if readiness == "unknown":
            verdict = conditions.ready(
                ConditionStatus,
                status=True,
                reason="ValidationUnknown",
                message="could not determine validation status",
            )
            await self._report(store, writes, verdict, store.status.capabilities)
        else:
            verdict = conditions.ready(
                ConditionStatus, status=True, reason="Valid", message="store validated"
            )
            await self._report(store, writes, verdict, capabilities)
        self._context.memory.succeeded(stored.ref)
        now = self._context.clock.now()
        return Outcome(self._booked(store, stored.ref, now + self._interval(store)))

    async def _failed(
        self, stored: StoredObject, store: SecretStore, writes: Writes, step: str, error: SyncError
    ) -> Outcome:
        verdict = conditions.ready(
            ConditionStatus, status=False, reason="InvalidProviderConfig", message=step
        )
        await self._report(store, writes, verdict, store.status.capabilities)
        self._context.memory.failed(stored.ref, Failure(self._context.clock.now(), str(error), error.hint))
        self._context.events.event(
            stored.ref, warning=True, reason="InvalidProviderConfig", message=f"{step}: {error}"
        )
        return Outcome(failure=error)

    async def _report(
        self, store: SecretStore, writes: Writes, verdict: ConditionStatus, capabilities: str
    ) -> None:
        status = msgspec.structs.replace(
            store.status,
            conditions=conditions.put(store.status.conditions, verdict, now=self._context.clock.now()),
            capabilities=capabilities,
        )
        if status != store.status:
            await report_status(
                self._context, writes, store.ref, store.metadata.uid, msgspec.to_builtins(status)
            )


def _needs(push: PushSecret, store: SecretStore, ref: ObjectRef) -> bool:
    if push.spec.deletion_policy != "Delete":
        return False
    return f"{ref.kind}/{ref.name}" in push.status.synced_push_secrets or any(
        named.kind == ref.kind and (named.name == ref.name or _selects(named, store))
        for named in push.spec.secret_store_refs
    )


def _selects(named: PushStoreRef, store: SecretStore) -> bool:
    try:
        return named.label_selector is not None and matches(named.label_selector, store.metadata.labels)
    except Malformed:
        return False  # the PushSecret tells it
