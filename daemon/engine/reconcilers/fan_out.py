"""ClusterExternalSecret and ClusterPushSecret: one child in every namespace that is chosen."""

from collections.abc import Iterable, Mapping

import msgspec

from syncret.config.meta import Document, GroupKind, Metadata, ObjectRef
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import NAMESPACE
from syncret.daemon.core.plan import fan_out
from syncret.daemon.core.plan.fan_out import (
    AddFinalizer,
    Child,
    ChildPlan,
    CleanUp,
    Conclude,
    FanOutKind,
    Provision,
)
from syncret.daemon.engine.reconciler import ANY, Dependency, Failure, On, Outcome
from syncret.daemon.engine.reconcilers.apply import carry_out, drop_finalizer, ensure_finalizer, publish
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import Conflict, Forbidden, HomeError, StoredObject


class _Head(msgspec.Struct):
    metadata: Metadata


class FanOutReconciler:
    """One of the two cluster-wide kinds; they differ in names alone."""

    def __init__(self, context: ReconcilerContext, fan: FanOutKind) -> None:
        self._context = context
        self._fan = fan
        self.group_kind = GroupKind(GROUP, fan.kind)

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Every namespace, and every child of that name."""
        yield Dependency(NAMESPACE.ref("", ANY), On.EXISTENCE | On.SPEC)
        child = ObjectRef(GROUP, self._fan.child, ANY, fan_out.child_name(self._fan, stored.document))
        yield Dependency(child, On.EXISTENCE | On.SPEC)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Make, update and delete children, and report in which namespaces there is one."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            return Outcome()
        return await _Run(self._context, self._fan, writes, stored).reconcile()


class _Run:
    """One run of one version of a resource. An error in one namespace does not stop the others."""

    def __init__(
        self, context: ReconcilerContext, fan: FanOutKind, writes: Writes, stored: StoredObject
    ) -> None:
        self._context = context
        self._fan = fan
        self._writes = writes
        self._stored = stored
        self._resource = stored.document
        self._now = context.clock.now()
        self._failed: dict[str, str] = {}
        self._leaving: set[str] = set()
        self._left = ""
        """The former name of a child that could not be deleted."""
        self._failure: HomeError | None = None
        self._conflict: Conflict | None = None

    async def reconcile(self) -> Outcome:
        """Bring all children and the status in line with the spec."""
        match fan_out.next_step(self._fan, self._resource, self._context.inventory.namespaces):
            case AddFinalizer():
                stored = await ensure_finalizer(self._writes, self._stored, self._fan.finalizer)
                return await _Run(self._context, self._fan, self._writes, stored).reconcile()
            case CleanUp(children):
                return await self._clean_up(children)
            case Conclude(error):
                status = fan_out.status_on_selector_error(self._fan, self._resource, error, self._now)
                return await self._publish(status, {"unknown": str(error)}, error)
            case Provision(namespaces):
                return await self._provision(namespaces)

    async def _clean_up(self, children: Iterable[Child]) -> Outcome:
        await self._carry_out(children)
        if self._failure is None:
            await drop_finalizer(self._writes, self._stored, self._fan.finalizer)
        return await self._publish(None, self._failed, self._failure)

    async def _provision(self, namespaces: Iterable[str]) -> Outcome:
        chosen = [each for each in namespaces if not self._is_leaving(each)]
        await self._carry_out(fan_out.children(self._fan, self._resource, chosen))
        provisioned = [each for each in chosen if each not in self._failed.keys() | self._leaving]
        status = fan_out.status_after(self._fan, self._resource, provisioned, self._failed, left=self._left)
        return await self._publish(status, self._failed, self._failure)

    async def _publish(
        self, status: Document | None, failed: Mapping[str, str], failure: Failure | None
    ) -> Outcome:
        report = fan_out.report(self._resource, status, failed, failure, self._now)
        return await publish(self._context, self._writes, self._stored, report)

    def _is_leaving(self, namespace: str) -> bool:
        stored = self._context.inventory.get(NAMESPACE.ref("", namespace))
        return stored is not None and bool(stored.as_type(_Head).metadata.deletion_timestamp)

    async def _carry_out(self, children: Iterable[Child]) -> None:
        """Write what differs. Raises Conflict at the end, if one changed meanwhile: then it is read again."""
        for child in children:
            try:
                await self._bring(child)
            except Conflict as conflict:
                self._conflict = conflict
            except Forbidden:
                self._leaving.add(child.namespace)  # the namespace is being deleted, and with it all in it
            except HomeError as error:
                self._fail(child, error)
        if self._conflict is not None:
            raise self._conflict

    async def _bring(self, child: Child) -> None:
        """Decide on the inventory's version; if a write is needed, decide again on the object read live."""
        ref = ObjectRef(GROUP, self._fan.child, child.namespace, child.name)
        namespace = NAMESPACE.ref("", child.namespace)
        marks = bool(self._fan.namespace_finalizer) and self._writes.may_mark(namespace)
        known = self._context.inventory.get
        plan = self._decide(child, known(ref), known(namespace) if marks else None)
        if plan.actions or plan.reason:
            found = await self._writes.get(ref)
            plan = self._decide(child, found, await self._writes.get(namespace) if marks else None)
        await carry_out(self._context, self._writes, self._stored.ref, plan.actions)
        if plan.reason:
            self._failed[child.namespace] = plan.reason

    def _fail(self, child: Child, error: HomeError) -> None:
        self._failed[child.namespace] = str(error)
        self._failure = self._failure or error
        if child.name != fan_out.child_name(self._fan, self._resource):
            self._left = child.name

    def _decide(
        self, child: Child, observed: StoredObject | None, namespace: StoredObject | None
    ) -> ChildPlan:
        return fan_out.decide(self._fan, self._resource, child, _document(observed), _document(namespace))


def _document(stored: StoredObject | None) -> Document | None:
    return None if stored is None else stored.document
