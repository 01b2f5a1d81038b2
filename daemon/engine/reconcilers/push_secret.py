"""PushSecret: reads its sources, does at the stores what `core/plan/push_secret` decides, and reports it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import structs

from syncret.config.meta import ObjectRef, member
from syncret.config.resources.kinds import NAMESPACE, PUSH_SECRET, SECRET, generator_ref, store_ref
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core.plan.push_operations import Done, may_stand, was_pushed
from syncret.daemon.core.plan.push_secret import (
    FINALIZER,
    Fetch,
    PushNeeds,
    PushObserved,
    PushPlan,
    SetFinalizers,
    Sleep,
    Step,
    decide,
    needs,
    next_step,
    obstacle,
    report,
)
from syncret.daemon.core.plan.secret_store import PendingDependency
from syncret.daemon.core.push_entries import Source, generated_source
from syncret.daemon.core.rendering import Rendering, sources_of
from syncret.daemon.engine.reconciler import ANY, OBJECT, USABLE, VALUES, Dependency, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, publish
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.generators import GeneratorTransaction
from syncret.daemon.engine.reconcilers.pushing import Pusher, read_sources
from syncret.daemon.engine.reconcilers.stores import select_stores
from syncret.daemon.engine.templates import template_sources
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import Conflict, StoredObject
from syncret.providers.errors import SyncError
from syncret.providers.work import Work

GENERATED: Final = "__pushsecret"
"""The place under which the operator records what a PushSecret generates."""


class Unreported(NamedTuple):
    """The account of a run that has not been written yet, and the uid of its PushSecret."""

    uid: str
    account: Mapping[str, Any]


class PushSecretReconciler:
    """One PushSecret at a time."""

    group_kind = PUSH_SECRET.group_kind

    def __init__(self, context: ReconcilerContext) -> None:
        self._context = context
        self._unreported: dict[ObjectRef, Unreported] = {}

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its stores, and its source; any store or Secret of the namespace where it selects by labels."""
        spec, namespace = stored.as_type(PushSecret).spec, stored.ref.namespace
        for ref in spec.secret_store_refs:
            name = ANY if ref.label_selector is not None else ref.name
            store = store_ref(ref.kind, name, namespace)
            yield Dependency(store, USABLE)
            if not store.namespace:
                yield Dependency(NAMESPACE.ref("", namespace), OBJECT)
        if spec.selector.secret is not None:
            source = SECRET.ref(namespace, spec.selector.secret.name or ANY)
            yield Dependency(source, VALUES)
        if spec.template is not None:
            for each in sources_of(spec.template, namespace):
                yield Dependency(each, VALUES)
        if spec.selector.generator_ref is not None:
            generator = spec.selector.generator_ref
            yield Dependency(generator_ref(generator.kind, generator.name, namespace), OBJECT)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Push what is due, delete what is no longer wanted, report what is at which store."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            self._unreported.pop(ref, None)
            return Outcome()
        stored = await self._report_account(stored, writes)
        run = _Run(self._context, writes, stored, self._unreported)
        step = run.next_step()
        if isinstance(step, SetFinalizers):
            stored = await writes.set_finalizers(stored, step.finalizers)
            run = _Run(self._context, writes, stored, self._unreported)
            step = run.next_step()
        return await run.do(step)

    async def _report_account(self, stored: StoredObject, writes: Writes) -> StoredObject:
        """Report what was pushed, if an earlier run could not because the spec had been changed."""
        unreported = self._unreported.get(stored.ref)
        if unreported is None:
            return stored
        if unreported.uid == stored.uid:
            status = {**member(stored.document, "status"), "syncedPushSecrets": unreported.account}
            await writes.update_status(stored, status)
        del self._unreported[stored.ref]
        return self._context.inventory.get(stored.ref) or stored


class _Run:
    """One run of one version of a PushSecret."""

    def __init__(
        self,
        context: ReconcilerContext,
        writes: Writes,
        stored: StoredObject,
        unreported: dict[ObjectRef, Unreported],
    ) -> None:
        self._context = context
        self._writes = writes
        self._stored = stored
        self._unreported = unreported
        self._resource = stored.as_type(PushSecret)
        self._request = context.memory.refresh_request(stored.ref)
        self._work = context.sessions.threads.sync()
        self._pusher = Pusher(context, writes, self._resource, self._work)

    def next_step(self) -> Step:
        """The next step by the object alone."""
        return next_step(self._resource, self._context.clock.now(), refresh_requested=self._request > 0)

    async def do(self, step: Step) -> Outcome:
        """Bring the stores and the status in line with the spec, if it is due."""
        match step:
            case SetFinalizers():
                raise Conflict(f"{self._stored.ref}: its finalizers are not as they were written")
            case Sleep(next_due):
                self._context.memory.succeeded(self._stored.ref)
                return Outcome(next_due)
            case PushPlan() as plan:
                return await self._publish(plan, await self._pusher.carry_out(plan.operations or ()))
            case Fetch():
                self._writes.check_asks()
                await self._writes.check_newest(self._stored)
                try:
                    return await self._sync()
                except PendingDependency:
                    return Outcome(pending=True)  # the Secret wakes this object when it comes

    async def _sync(self) -> Outcome:
        """Push and delete. What was generated is given back, unless it may stand at a store by now."""
        async with GeneratorTransaction(self._context, self._writes, self._resource, self._work) as generated:
            observed = await self._observe(generated)
            needed = await self._needs(observed)
            plan = decide(self._resource, observed, needed, await self._pusher.look_up(needed.lookups))
            operations, generated.in_use = plan.operations or (), True
            done = await self._pusher.carry_out(operations)
            generated.in_use = may_stand(operations, done)
            outcome = await self._publish(plan, done)
            if was_pushed(operations, done):
                await generated.commit()
            return outcome

    async def _observe(self, generated: GeneratorTransaction) -> PushObserved:
        observed = PushObserved()
        try:
            stores = await select_stores(self._context, self._writes, self._resource)
            observed = structs.replace(observed, stores=stores)
        except SyncError as error:
            observed = structs.replace(observed, store_error=error)
        try:
            return structs.replace(observed, sources=await self._sources(observed, generated))
        except PendingDependency:
            raise
        except SyncError as error:
            return structs.replace(observed, source_error=error)

    async def _sources(self, observed: PushObserved, generated: GeneratorTransaction) -> tuple[Source, ...]:
        """The Secrets, or the values of the generator, which is not called if they cannot be pushed."""
        selector, namespace = self._resource.spec.selector, self._stored.ref.namespace
        if selector.generator_ref is None:
            return await read_sources(self._context, selector, namespace)
        if obstacle(self._resource, observed) is not None:
            return ()
        try:
            values = await generated.generate(GENERATED, selector.generator_ref)
        except SyncError as error:
            raise error.below("spec.selector.generatorRef") from error
        return (generated_source(namespace, {key: value.raw for key, value in values.items()}),)

    async def _needs(self, observed: PushObserved) -> PushNeeds:
        resource, templates = self._resource, self._context.templates
        template, namespace = resource.spec.template, self._stored.ref.namespace
        sources = await template_sources(template, self._context.home, namespace)

        def needed(work: Work) -> PushNeeds:
            rendered = templates.of(work)
            render = None
            if template is not None:
                render = Rendering(rendered.render, sources, namespace, work, "spec.template")
            return needs(resource, observed, work, render=render, transform=rendered.transform)

        try:
            return await self._work.run(needed, templates.time_limit)
        except SyncError as error:
            return PushNeeds(unrendered=error)

    async def _publish(self, plan: PushPlan, done: Sequence[Done]) -> Outcome:
        """Publish the result; drop the finalizer of a deleted PushSecret once all its entries are deleted."""
        published = report(self._resource, plan, done, self._context.clock.now())
        if published.failure is None:
            self._context.memory.clear_refresh_request(self._stored.ref, self._request)
            if plan.releases:
                await drop_finalizer(self._writes, self._stored, FINALIZER)
        if published.status is None:
            return await publish(self._context, self._writes, self._stored, published)
        account = published.status.get("syncedPushSecrets", {})
        self._unreported[self._stored.ref] = Unreported(self._stored.uid, account)
        outcome = await publish(self._context, self._writes, self._stored, published)
        del self._unreported[self._stored.ref]
        return outcome
