"""ExternalSecret: observes, fetches, carries out what `core/plan` decides, and publishes the report."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from syncret.config.durations import span
from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import EXTERNAL_SECRET, NAMESPACE, generator_ref, role_of, store_ref
from syncret.daemon.core import needs
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.needs import Answer, Need
from syncret.daemon.core.plan.external_secret.decide import (
    Plan,
    decide,
    from_cache,
    not_decided,
    report,
    withdrawal,
)
from syncret.daemon.core.plan.external_secret.next_step import (
    FINALIZER,
    AddFinalizer,
    CleanUp,
    Conclude,
    Fetch,
    Ignore,
    MarkTarget,
    Observed,
    ReadTarget,
    Sleep,
    Wait,
    next_step,
)
from syncret.daemon.core.rendering import Rendering, sources_of
from syncret.daemon.core.target import form_of
from syncret.daemon.engine.queue.waiting import current_run
from syncret.daemon.engine.reconciler import OBJECT, USABLE, VALUES, Dependency, Outcome
from syncret.daemon.engine.reconcilers.apply import (
    RefusedAction,
    add_finalizer,
    apply,
    carry_out,
    drop_finalizer,
    publish,
)
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.fetch import fetch
from syncret.daemon.engine.reconcilers.generators import GeneratorTransaction, look_up_generator
from syncret.daemon.engine.reconcilers.stores import look_up_store
from syncret.daemon.engine.templates import template_sources
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import Conflict, Forbidden, StoredObject
from syncret.providers.errors import SyncError, Unavailable, bare
from syncret.providers.work import Work

if TYPE_CHECKING:  # few hosts have a cache
    from syncret.daemon.engine.reconcilers.caching import Caching, ResolvedAnswers

MOST_DECISIONS: Final = 6
"""How often one run decides on the values that it fetched, while others keep changing the target."""


class ExternalSecretReconciler:
    """One ExternalSecret at a time."""

    group_kind = EXTERNAL_SECRET.group_kind

    def __init__(self, context: ReconcilerContext) -> None:
        self._context = context

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its target, stores and generators; its namespace, where a cluster store asks for labels."""
        resource = stored.as_type(ExternalSecret)
        namespace = resource.metadata.namespace
        named = needs.stores(resource.spec)
        yield Dependency(form_of(resource).ref(resource), VALUES)
        stores = [store_ref(*name, namespace) for name in named]
        for store in stores:
            yield Dependency(store, USABLE)
        template = resource.spec.target.template
        if template is not None:
            for source in sources_of(template, namespace):
                yield Dependency(source, VALUES)
        for generator in needs.generators(resource.spec):
            yield Dependency(generator_ref(generator.kind, generator.name, namespace), OBJECT)
        if not all(store.namespace for store in stores):
            yield Dependency(NAMESPACE.ref("", namespace), OBJECT)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Bring the target and the status in line with the spec, if it is due."""
        context = self._context
        stored = context.inventory.get(ref)
        if stored is None:
            context.memory.forget(ref)
            context.settled.forget(ref)
            return Outcome()
        run = _Run(context, writes, stored)
        outcome = await run.reconcile()
        if not outcome.pending and context.memory.mark_first_run(ref):
            for dependent in context.inventory.dependents(run.target):
                if role_of(dependent[:2]) == "push":
                    context.wake(dependent)  # the Secret that it waits for may never be made
        return outcome


def _caching_of(context: ReconcilerContext, resource: ExternalSecret, target: ObjectRef) -> "Caching | None":
    """The offline cache, for one run; None if there is none."""
    if context.cache is None:
        return None
    from syncret.daemon.engine.reconcilers.caching import Caching  # few have one

    return Caching(context, context.cache, resource, target)


class _Run:
    """One run of one ExternalSecret."""

    def __init__(self, context: ReconcilerContext, writes: Writes, stored: StoredObject) -> None:
        self._context = context
        self._writes = writes
        self._stored = stored
        self._resource = stored.as_type(ExternalSecret)
        self._request = context.memory.refresh_request(stored.ref)
        self._work = context.sessions.threads.sync()
        self.target = form_of(self._resource).ref(self._resource)
        self._caching = _caching_of(context, self._resource, self.target)

    async def reconcile(self) -> Outcome:
        """Do one step after the other, until one ends the run."""
        self._report_restored()
        observed, step = await self._prepared()
        match step:
            case CleanUp(actions=actions):
                await carry_out(self._context, self._writes, self._stored.ref, actions)
                await drop_finalizer(self._writes, self._stored, FINALIZER)
                return self._nothing_to_do()
            case Fetch():
                self._writes.check_asks()
                await self._writes.check_newest(self._stored)
                self._refresh_stores(step)
                return await self._sync(step, observed)
            case Conclude(verdict=verdict):
                return await self._publish(Plan(verdict=verdict), None)
            case Sleep(next_due=due):
                await self._keep_unless_known()
                return Outcome(due)
            case Wait():
                return Outcome(pending=True)
            case _:
                return self._nothing_to_do()

    def _refresh_stores(self, step: Fetch) -> None:
        """Requeue stores that cannot be used, if an operator asked for this object: they may work again."""
        run = current_run.get()
        if run is None or run.asked_at == -inf:
            return
        for need in step.failed:
            if not isinstance(need, needs.Generate):
                self._context.refresh(store_ref(*need.store, self._stored.ref.namespace))

    def _nothing_to_do(self) -> Outcome:
        """Clear the error of an object that is not synced any more."""
        self._context.memory.succeeded(self._stored.ref)
        return Outcome()

    async def _prepared(self) -> tuple[Observed, CleanUp | Conclude | Fetch | Ignore | Sleep | Wait]:
        """Make all preparations. Returns the input of the decision, and the step that follows."""
        observed, now = await self._observe(), self._context.clock.now()
        while True:
            step = next_step(self._resource, observed, now, self._context.options)
            match step:
                case AddFinalizer():
                    await self._add_finalizer()
                case ReadTarget(unless_unchanged=True) if self._context.home.is_unchanged(self.target):
                    observed = replace(observed, unchanged=True)
                case ReadTarget(unless_settled=True) if self._is_settled():
                    observed = replace(observed, settled=True)
                case ReadTarget():
                    observed = await self._read_target(observed)
                case MarkTarget(action=action):
                    await carry_out(self._context, self._writes, self._stored.ref, (action,))
                    observed = await self._read_target(observed)
                case _:
                    return observed, step

    async def _add_finalizer(self) -> None:
        before, resource = self._stored, self._resource
        self._stored, metadata = await add_finalizer(self._writes, before, resource.metadata, FINALIZER)
        if self._stored.has_same_generation(before):  # the spec is what has been read already
            self._resource = replace(resource, metadata=metadata)
        else:
            self._resource = self._stored.as_type(ExternalSecret)

    async def _observe(self) -> Observed:
        """The stores and generators that the spec names."""
        context, writes, spec = self._context, self._writes, self._resource.spec
        namespace = self._stored.ref.namespace
        return Observed(
            stores={
                each: await look_up_store(context, writes, each, namespace) for each in needs.stores(spec)
            },
            generators={
                each: await look_up_generator(context, writes, each, namespace)
                for each in needs.generators(spec)
            },
            namespace_labels=context.inventory.namespaces.get(namespace, {}),
            refresh_requested=self._request > 0 or (self._caching is not None and self._caching.is_due),
        )

    def _is_settled(self) -> bool:
        """Whether the target is unchanged since an earlier run found it in order."""
        context, ref = self._context, self._stored.ref
        version, held = context.settled.version(ref), context.inventory.get(self.target)
        if not version or held is None or held.resource_version != version or self._former():
            return False
        is_synced = bool(self._resource.status.synced_resource_version)
        return is_synced and context.home.is_unchanged(self.target)

    def _former(self) -> list[ObjectRef]:
        """Secrets that may carry the label of this owner, but for the target."""
        inventory, owned = self._context.inventory, self._context.owned_secrets
        return [
            ref
            for ref in owned.candidates(self._stored.ref.namespace, self._stored.ref.name)
            if ref != self.target and ref.namespace == self.target.namespace and inventory.get(ref)
        ]

    async def _read_target(self, observed: Observed, *, after_write: bool = False) -> Observed:
        """The target, and what carries the label of this owner, as they are now."""
        get = self._writes.get_after_write if after_write else self._writes.get
        is_absent = not after_write and self._context.home.is_absent(self.target)
        found = None if is_absent else await get(self.target)
        former: list[Document] = []
        for ref in self._former():
            other = await self._writes.get(ref)
            if other is not None:
                former.append(other.document)
        return replace(
            observed,
            target_was_read=True,
            target=None if found is None else found.document,
            may_mark=found is not None and self._writes.may_mark(self.target),
            former=former,
        )

    async def _sync(self, step: Fetch, observed: Observed) -> Outcome:
        """Fetch and generate everything, bring the target in line with it, and report."""
        work, namespace = self._work, self._stored.ref.namespace
        async with GeneratorTransaction(self._context, self._writes, self._resource, work) as generated:
            answers = await fetch(self._context, step.needs, namespace, generated, work)
            resolved = None
            if self._caching is not None:
                resolved = self._caching.resolve(answers, step.failed)
                answers = resolved.answers
            plan, refused = await self._carry_out(observed, {**step.failed, **answers}, generated)
            if self._caching is not None and resolved is not None:
                outcome = await self._publish_cached(self._caching, resolved, plan, refused)
            else:
                outcome = await self._publish(plan, refused)
            if generated.in_use:
                await generated.commit()
            return outcome

    def _report_restored(self) -> None:
        """Record an event, once, that the target was put back at the start."""
        ref, memory = self._stored.ref, self._context.memory
        if self._caching is None or not self._caching.is_restored or memory.had_first_run(ref):
            return
        text = f"{self.target} restored from the cache, {span(self._caching.target_age())} old"
        self._context.events.event(ref, warning=False, reason="RestoredFromCache", message=text)

    async def _publish_cached(
        self, caching: "Caching", resolved: "ResolvedAnswers", plan: Plan, refused: RefusedAction | None
    ) -> Outcome:
        """Publish; keep values that were confirmed in the cache, and withdraw a target that is too old."""
        is_right = plan.verdict.ok and refused is None and not resolved.is_refused
        if is_right and resolved.error is not None:
            plan = from_cache(plan, caching.age(resolved.confirmed_at), resolved.error)
        if not is_right and not resolved.is_refused and caching.is_too_old:
            observed = await self._read_target(Observed())
            actions = withdrawal(self._resource, observed)
            await carry_out(self._context, self._writes, self._stored.ref, actions)
            caching.withdraw()
        outcome = await self._publish(plan, refused)
        if is_right:
            await caching.keep(resolved.confirmed_at if resolved.error else caching.now())
        if resolved.error is not None or not is_right:
            caching.mark_unconfirmed(resolved)
        expires_in = caching.expires_in() if outcome.failure is not None else None
        if expires_in is None:
            return outcome
        due = self._context.clock.now() + expires_in
        return replace(outcome, next_due=due if outcome.next_due is None else min(due, outcome.next_due))

    async def _keep_unless_known(self) -> None:
        """Keep a target that an earlier run of the daemon wrote without a cache."""
        confirmed_at = seconds(self._resource.status.refresh_time or "")
        if self._caching is not None and confirmed_at is not None and not self._caching.is_known:
            await self._caching.keep(confirmed_at)

    async def _carry_out(
        self, observed: Observed, fetched: Mapping[Need, Answer], generated: GeneratorTransaction
    ) -> tuple[Plan, RefusedAction | None]:
        """Decide and write; if another writer comes between, decide again on the same values.

        A settled target is read only if the plan differs from the one that it was settled with.
        """
        if not observed.target_was_read:
            anew = await self._decide(observed, fetched)
            if self._is_settled() and self._context.settled.is_wanted_again(self._stored.ref, anew):
                generated.in_use = True
                return replace(anew, actions=()), None
            observed = await self._read_target(observed)
        decisions = 0
        while True:
            plan = await self._decide(observed, fetched)
            decisions += 1
            generated.in_use = plan.verdict.ok
            try:
                refused = await apply(self._context, self._writes, self._stored.ref, plan.actions)
            except Conflict as conflict:
                generated.in_use = False
                if decisions == MOST_DECISIONS:
                    raise Unavailable(f"{conflict}; others change it before every write") from conflict
                await self._check_unchanged()
                observed = await self._read_target(observed, after_write=True)
            else:
                generated.in_use = plan.verdict.ok and refused is None
                await self._settle(observed, plan, fetched)
                return plan, refused

    async def _settle(self, observed: Observed, plan: Plan, fetched: Mapping[Need, Answer]) -> None:
        """Remember the target as settled, if it was read and is in order."""
        context, target = self._context, observed.target
        if (
            target is None
            or plan.actions
            or not plan.verdict.ok
            or not context.home.is_unchanged(self.target)
        ):
            return
        anew = await self._decide(replace(observed, target=None), fetched)
        context.settled.settle(self._stored.ref, target, anew)

    async def _check_unchanged(self) -> None:
        """Raise Conflict if the ExternalSecret itself is another one by now: it is to be run anew."""
        newest = await self._writes.get_after_write(self._stored.ref)
        if newest is None or not newest.has_same_generation(self._stored):
            raise Conflict(f"{self._stored.ref}: changed during the run")
        if newest.as_type(ExternalSecret).metadata.deletion_timestamp:
            raise Conflict(f"{self._stored.ref}: deleted during the run")

    async def _decide(self, observed: Observed, fetched: Mapping[Need, Answer]) -> Plan:
        resource, templates = self._resource, self._context.templates
        template, namespace = resource.spec.target.template, self._stored.ref.namespace
        sources = await template_sources(template, self._context.home, namespace)

        def decided(work: Work) -> Plan:
            rendered = templates.of(work)
            render = None if template is None else Rendering(rendered.render, sources, namespace, work)
            return decide(resource, observed, fetched, work, render=render, transform=rendered.transform)

        try:  # each attempt has the budget that fetching has left: conflicts are not the object's fault
            return await self._work.again().run(decided, templates.time_limit)
        except SyncError as error:
            return not_decided(resource, observed, bare(error))

    async def _publish(self, plan: Plan, refused: RefusedAction | None) -> Outcome:
        context, resource = self._context, self._resource
        action, error = refused or (None, None)
        if isinstance(error, Forbidden):
            raise error
        result = report(resource, plan, action, error, context.clock.now(), context.options)
        if result.failure is None:
            context.memory.clear_refresh_request(self._stored.ref, self._request)
        return await publish(context, self._writes, self._stored, result)
