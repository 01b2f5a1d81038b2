"""PushSecret: from a Secret (or a generator) to every store it names, and away again when unwanted."""

from collections.abc import Iterable, Mapping
from typing import Final

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import PUSH_SECRET, SECRET, generator_ref, store_ref
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core import push_entries
from syncret.daemon.core.plan.stores import PendingDependency
from syncret.daemon.core.rendering import sources_of
from syncret.daemon.engine.reconciler import ANY, Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer
from syncret.daemon.engine.reconcilers.context import ReconcilerContext, is_looked_up
from syncret.daemon.engine.reconcilers.generators import GeneratorTransaction
from syncret.daemon.engine.reconcilers.push_verdicts import PushVerdicts, cleaned_up, is_due, next_due
from syncret.daemon.engine.reconcilers.pushing import (
    Pusher,
    Source,
    SourceMissing,
    Synced,
    merged,
    sources,
    templated,
)
from syncret.daemon.engine.reconcilers.stores import select_stores
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.errors import Malformed, SyncError

FINALIZER: Final = "pushsecret.externalsecrets.io/finalizer"


class PushSecretReconciler:
    """One PushSecret at a time."""

    group_kind = PUSH_SECRET.group_kind

    def __init__(self, context: ReconcilerContext) -> None:
        self._context = context

    def reads(self, kind: GroupKind) -> bool:
        """Stores, generators and their records, Secrets, ConfigMaps and namespaces."""
        return is_looked_up(kind)

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its stores, and its source; any store or Secret of the namespace where it selects by labels."""
        spec, namespace = stored.as_type(PushSecret).spec, stored.ref.namespace
        for ref in spec.secret_store_refs:
            name = ANY if ref.label_selector is not None else ref.name
            yield Dependency(store_ref(ref.kind, name, namespace), On.EXISTENCE | On.SPEC | On.READINESS)
        if spec.selector.secret is not None:
            source = SECRET.ref(namespace, spec.selector.secret.name or ANY)
            yield Dependency(source, On.EXISTENCE | On.SPEC | On.DATA)
        for each in sources_of(spec.template, namespace):
            yield Dependency(each, On.EXISTENCE | On.SPEC | On.DATA)
        if spec.selector.generator_ref is not None:
            generator = spec.selector.generator_ref
            yield Dependency(generator_ref(generator.kind, generator.name, namespace), On.EXISTENCE | On.SPEC)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Push what is due, delete what is no longer wanted, report what stands where."""
        return await _Run(self._context, writes).reconcile(ref)


class _Run:
    """One run of one PushSecret."""

    def __init__(self, context: ReconcilerContext, writes: Writes) -> None:
        self._context = context
        self._writes = writes
        self._pusher = Pusher(context, writes)
        self._verdicts = PushVerdicts(context, writes)

    async def reconcile(self, ref: ObjectRef) -> Outcome:
        """Push what is due, delete what is no longer wanted, tell what stands where."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            return Outcome()
        resource = stored.as_type(PushSecret)
        if resource.metadata.deletion_timestamp:
            return await self._clean_up(resource, stored)
        cleans_up = resource.spec.deletion_policy == "Delete"
        stored = await (ensure_finalizer if cleans_up else drop_finalizer)(self._writes, stored, FINALIZER)
        resource = stored.as_type(PushSecret)
        try:
            parse_duration(resource.spec.refresh_interval)
        except DurationError as error:
            problem = Malformed(str(error), hint="write a duration such as 1h").at("spec.refreshInterval")
            return await self._verdicts.failed(resource, str(problem), problem)
        now = self._context.clock.now()
        wish = self._context.memory.refresh_request(ref)
        if not wish and not is_due(resource, now):
            return Outcome(next_due(resource, now))
        outcome = await self._sync(resource)
        if outcome.failure is None:
            self._context.memory.clear_refresh_request(ref, wish)
        return outcome

    async def _clean_up(self, resource: PushSecret, stored: StoredObject) -> Outcome:
        """The PushSecret goes: with deletionPolicy Delete, everything it pushed goes first."""
        if resource.spec.deletion_policy == "Delete" and FINALIZER in resource.metadata.finalizers:
            left, error = await self._pusher.delete(resource, {})
            if error is not None:
                return await self._verdicts.failed(
                    resource, f"Failed to Delete Secrets from Provider: {error}", error, left
                )
        await drop_finalizer(self._writes, stored, FINALIZER)
        return self._verdicts.nothing_to_do(resource)

    async def _sync(self, resource: PushSecret) -> Outcome:
        try:
            push_entries.check_store_refs(resource.spec)
        except SyncError as error:
            return await self._verdicts.failed(resource, str(error), error)
        async with GeneratorTransaction(self._context, self._writes, resource) as leases:
            return await self._push_from(resource, leases)

    async def _push_from(self, resource: PushSecret, leases: GeneratorTransaction) -> Outcome:
        """Find what to push and where to, then push it; what was drawn is in use from then on."""
        try:
            found = await sources(self._context, resource, leases)
        except SourceMissing as error:
            return await self._source_missing(resource, error)
        except PendingDependency:
            return Outcome(pending=True)  # the Secret wakes this object when it comes
        except SyncError as error:
            return await self._verdicts.failed(resource, "could not get source secret", error)
        try:
            stores = await select_stores(self._context, self._writes, resource)
            if not stores:
                return self._verdicts.nothing_to_do(resource)  # none of them is this daemon's
            push_entries.check_selectors(resource.spec, list(stores))
        except SyncError as error:
            return await self._verdicts.failed(resource, str(error), error)
        try:
            found = [await templated(self._context, resource, source) for source in found]
        except SyncError as error:
            return self._verdicts.unrendered(resource, error)
        await leases.commit()
        return await self._push(resource, found, stores)

    async def _push(
        self, resource: PushSecret, found: list[Source], stores: Mapping[push_entries.Store, StoredObject]
    ) -> Outcome:
        """Push every source, then delete what none of them wants any more."""
        everything: Synced = {}
        for source in found:
            synced, error = await self._pusher.push(resource, source, stores)
            everything = merged(everything, synced)
            if error is not None:
                told = merged(everything, resource.status.synced_push_secrets)
                return await self._verdicts.failed(resource, f"set secret failed: {error}", error, told)
        if found and resource.spec.deletion_policy == "Delete":
            left, error = await self._pusher.delete(resource, everything)
            if error is not None:
                return await self._verdicts.failed(
                    resource, f"Failed to Delete Secrets from Provider: {error}", error, left
                )
        return await self._verdicts.done(resource, everything)

    async def _source_missing(self, resource: PushSecret, error: SourceMissing) -> Outcome:
        if resource.spec.deletion_policy == "Delete" and resource.status.synced_push_secrets:
            return await self._source_gone(resource)
        if cleaned_up(resource):
            return self._verdicts.nothing_to_do(resource)  # until the source, or this object, changes
        return await self._verdicts.failed(resource, "could not get source secret", error)

    async def _source_gone(self, resource: PushSecret) -> Outcome:
        """The Secret that was pushed is gone: what it left at the stores goes too."""
        left, error = await self._pusher.delete(resource, {})
        if error is not None:
            message = f"failed to cleanup provider secrets: {error}"
            return await self._verdicts.failed(resource, message, error, left)
        return await self._verdicts.source_deleted(resource)
