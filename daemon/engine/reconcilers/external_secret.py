"""ExternalSecret: fetch what is needed, decide, write the target, tell the status."""

from collections.abc import Iterable, Mapping

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import EXTERNAL_SECRET, NAMESPACE, generator_ref, role_of, store_ref
from syncret.daemon.core import needs
from syncret.daemon.core.assemble import Assembled, assemble
from syncret.daemon.core.needs import Answer, Need
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.plan.stores import PendingDependency, belongs_to_another_controller
from syncret.daemon.core.rendering import sources_of
from syncret.daemon.core.target import TargetForm, form_of
from syncret.daemon.engine.reconciler import Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import TargetWriter, drop_finalizer, ensure_finalizer
from syncret.daemon.engine.reconcilers.context import ReconcilerContext, is_looked_up
from syncret.daemon.engine.reconcilers.fetch import fetch
from syncret.daemon.engine.reconcilers.generators import GeneratorTransaction, look_up_generator
from syncret.daemon.engine.reconcilers.stores import look_up_store
from syncret.daemon.engine.reconcilers.verdicts import Verdicts, is_due, next_due
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import Invalid, StorageUnavailable, StoredObject
from syncret.providers.errors import SyncError

FINALIZER = "externalsecrets.external-secrets.io/externalsecret-cleanup"


class ExternalSecretReconciler:
    """One ExternalSecret at a time, from what is wanted to what is told."""

    group_kind = EXTERNAL_SECRET.group_kind

    def __init__(self, context: ReconcilerContext) -> None:
        self._context = context

    def reads(self, kind: GroupKind) -> bool:
        """Stores, generators and their records, Secrets, ConfigMaps and namespaces."""
        return is_looked_up(kind)

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its target, stores and generators; its namespace, where a cluster store asks for labels."""
        resource = stored.as_type(ExternalSecret)
        namespace = resource.metadata.namespace
        named = needs.stores(resource.spec)
        yield Dependency(form_of(resource).ref(resource), On.EXISTENCE | On.SPEC | On.DATA)
        stores = [store_ref(*name, namespace) for name in named]
        for store in stores:
            yield Dependency(store, On.EXISTENCE | On.SPEC | On.READINESS)
        for source in sources_of(resource.spec.target.template, namespace):
            yield Dependency(source, On.EXISTENCE | On.SPEC | On.DATA)
        for generator in needs.generators(resource.spec):
            yield Dependency(generator_ref(generator.kind, generator.name, namespace), On.EXISTENCE | On.SPEC)
        if not all(store.namespace for store in stores):
            yield Dependency(NAMESPACE.ref("", namespace), On.EXISTENCE | On.SPEC)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Bring the target and the status in line with the spec, if it is due."""
        return await _Run(self._context, writes).reconcile(ref)


class _Run:
    """One run of one ExternalSecret."""

    def __init__(self, context: ReconcilerContext, writes: Writes) -> None:
        self._context = context
        self._writes = writes
        self._verdicts = Verdicts(context, writes)
        self._writer = TargetWriter(context, writes)

    async def reconcile(self, ref: ObjectRef) -> Outcome:
        """Bring the target and the status in line with the spec, if it is due."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            return Outcome()
        resource = stored.as_type(ExternalSecret)
        outcome = await self._reconcile(stored, resource)
        if not outcome.pending and self._context.memory.mark_first_run(ref):
            for dependent in self._context.inventory.dependents(form_of(resource).ref(resource)):
                if role_of(dependent.group_kind) == "push":
                    self._context.wake(dependent)  # the Secret it waits for may have come to nothing
        return outcome

    async def _reconcile(self, stored: StoredObject, resource: ExternalSecret) -> Outcome:
        if resource.metadata.deletion_timestamp:
            await self._writer.clean_up(resource)
            await drop_finalizer(self._writes, stored, FINALIZER)
            return self._nothing_to_do(stored.ref)
        if FINALIZER not in resource.metadata.finalizers:
            stored = await ensure_finalizer(self._writes, stored, FINALIZER)
            resource = stored.as_type(ExternalSecret)
        if await self._is_others(resource):
            return self._nothing_to_do(stored.ref)
        if resource.spec.target.manifest is not None and not self._context.options.allow_generic_targets:
            disabled = Refusal(
                "invalid generic target",
                "generic targets are disabled",
                hint="set allowGenericTargets, or leave target.manifest out",
            )
            return await self._verdicts.refused(resource, "SecretSyncedError", disabled)
        wish = self._context.memory.refresh_request(stored.ref)
        outcome = await self._sync(resource, form_of(resource), wished=wish > 0)
        if outcome.failure is None and not outcome.pending:
            self._context.memory.clear_refresh_request(stored.ref, wish)
        return outcome

    def _nothing_to_do(self, ref: ObjectRef) -> Outcome:
        """It is not synced any more; what kept it from that before is no longer of interest."""
        self._context.memory.succeeded(ref)
        return Outcome()

    async def _is_others(self, resource: ExternalSecret) -> bool:
        """Whether a store or a generator it names is another controller's."""
        namespace, options = resource.metadata.namespace, self._context.options
        for name in needs.stores(resource.spec):
            store = await look_up_store(self._context, self._writes, name, namespace)
            if belongs_to_another_controller(store, options):
                return True
        for reference in needs.generators(resource.spec):
            generator = await look_up_generator(self._context, self._writes, reference, namespace)
            if belongs_to_another_controller(generator, options):
                return True
        return False

    async def _sync(self, resource: ExternalSecret, form: TargetForm, *, wished: bool) -> Outcome:
        now, target = self._context.clock.now(), form.ref(resource)
        due = wished or is_due(resource, now, spread=self._context.options.spread)
        if not due and self._context.home.is_unchanged(target):
            return Outcome(next_due(resource, now, spread=self._context.options.spread))
        observed = await self._writer.mark(resource, await self._writes.get(target))
        current = observed.document if observed is not None else None
        if not due and form.is_valid(resource, current):
            return Outcome(next_due(resource, now, spread=self._context.options.spread))
        async with GeneratorTransaction(self._context, self._writes, resource) as leases:
            return await self._refresh(resource, form, current, leases)

    async def _refresh(
        self,
        resource: ExternalSecret,
        form: TargetForm,
        current: Document | None,
        leases: GeneratorTransaction,
    ) -> Outcome:
        """Read and draw everything, then bring the target in line with it."""
        words = form.wording
        try:
            asked = needs.needs(resource.spec)
            answers = await fetch(self._context, self._writes, asked, resource.metadata.namespace, leases)
            assembled = await self._assembled(resource, answers)
        except PendingDependency:
            return Outcome(pending=True)  # the verdict on the store wakes this object
        except SyncError as error:
            return await self._verdicts.failed(
                resource, words.failed, "could not get secret data from provider", error
            )
        if not assembled.data and resource.spec.target.deletion_policy != "Merge":
            return await self._without_data(resource, form, assembled, leases)
        return await self._write(resource, form, current, assembled, leases)

    async def _assembled(self, resource: ExternalSecret, answers: Mapping[Need, Answer]) -> Assembled:
        """The data; templates over keys are rendered as those of values are."""
        bench = self._context.templates.bench()
        return await bench.run(lambda: assemble(resource.spec, answers, transform=bench.transform))

    async def _write(
        self,
        resource: ExternalSecret,
        form: TargetForm,
        current: Document | None,
        assembled: Assembled,
        leases: GeneratorTransaction,
    ) -> Outcome:
        """Write the target as the policies ask. What exists is bound even where it must not be written."""
        words, policy = form.wording, resource.spec.target.creation_policy
        bound = form.binding(resource) if policy != "None" and current is not None else ""
        if policy == "Owner":
            try:
                await self._writer.drop_former(resource, form)
            except (Invalid, StorageUnavailable) as error:
                return await self._verdicts.failed(
                    resource, words.failed, "could not delete orphaned secrets", error
                )
        try:
            if resource.spec.target.manifest is not None and (policy == "None" or current is None):
                await self._writer.check(resource, form, current, assembled.data)
            if policy == "Merge" and current is None:
                await leases.commit()
                return await self._verdicts.done(resource, words.missing, words.not_created, assembled)
            if policy != "None":
                await self._writer.write(resource, form, current, assembled.data)
                bound = form.binding(resource)
        except Refusal as refusal:
            return await self._verdicts.refused(resource, words.failed, refusal, bound=bound)
        except SyncError as error:
            return await self._verdicts.failed(resource, words.failed, words.unrendered, error, bound=bound)
        except (Invalid, StorageUnavailable) as error:
            return await self._verdicts.failed(
                resource, words.failed, "could not update secret", error, bound=bound
            )
        await leases.commit()
        return await self._verdicts.done(resource, words.synced, "secret synced", assembled, bound=bound)

    async def _without_data(
        self, resource: ExternalSecret, form: TargetForm, assembled: Assembled, leases: GeneratorTransaction
    ) -> Outcome:
        """The provider has nothing: keep what is there, or delete what we own."""
        words, target = form.wording, resource.spec.target
        if target.deletion_policy == "Retain":
            await leases.commit()
            message = "secret retained due to DeletionPolicy=Retain"
            return await self._verdicts.done(resource, words.synced, message, assembled)
        if target.creation_policy != "Owner":
            refusal = Refusal(
                words.not_deleted,
                f"creationPolicy={target.creation_policy} is not Owner",
                hint="only Owner may delete",
            )
            return await self._verdicts.refused(resource, words.failed, refusal)
        try:
            await self._writer.delete(resource, form.ref(resource))
        except (Invalid, StorageUnavailable) as error:
            return await self._verdicts.failed(resource, words.failed, words.not_deleted, error)
        await leases.commit()
        message = "secret deleted due to DeletionPolicy=Delete"
        return await self._verdicts.done(resource, words.deleted, message, assembled)
