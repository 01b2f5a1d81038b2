"""ClusterExternalSecret and ClusterPushSecret: one child in every namespace that is chosen."""

from collections.abc import Iterable
from typing import Any

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import Document, GroupKind, Metadata, ObjectRef, member
from syncret.config.resources.base import GROUP
from syncret.config.resources.cluster import ClusterExternalSecret, ClusterPushSecret
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.plan import fan_out
from syncret.daemon.core.plan.fan_out import FanOutKind
from syncret.daemon.engine.reconciler import ANY, Dependency, On, Outcome
from syncret.daemon.engine.reconcilers.apply import drop_finalizer, ensure_finalizer
from syncret.daemon.engine.reconcilers.context import Failure, ReconcilerContext, is_looked_up
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Conflict, HomeError, StoredObject
from syncret.providers.errors import SyncError


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
        yield Dependency(ObjectRef("", "Namespace", "", ANY), On.EXISTENCE | On.SPEC)
        child = ObjectRef(GROUP, self._fan.child, ANY, fan_out.child_name(self._fan, stored.document))
        yield Dependency(child, On.EXISTENCE | On.SPEC)

    def reads(self, kind: GroupKind) -> bool:
        """Namespaces and children."""
        return is_looked_up(kind)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Make, mend and delete children, and report in which namespaces there is one."""
        return await _Run(self._context, self._fan, writes).reconcile(ref)


class _Run:
    """One run of one resource."""

    def __init__(self, context: ReconcilerContext, fan: FanOutKind, writes: Writes) -> None:
        self._context = context
        self._fan = fan
        self._writes = writes

    async def reconcile(self, ref: ObjectRef) -> Outcome:
        """Make, mend and delete children, and tell in which namespaces there is one."""
        stored = self._context.inventory.get(ref)
        if stored is None:
            self._context.memory.forget(ref)
            return Outcome()
        resource = stored.document
        if resource["metadata"].get("deletionTimestamp"):
            return await self._clean_up(stored, resource)
        if self._fan.finalizer:
            stored = await ensure_finalizer(self._writes, stored, self._fan.finalizer)
            resource = stored.document
        return await self._provision(stored, resource)

    async def _clean_up(self, stored: StoredObject, resource: Document) -> Outcome:
        if self._fan.finalizer:
            status = member(resource, "status")
            name = status.get(self._fan.name_field) or fan_out.child_name(self._fan, resource)
            for namespace in fan_out.namespaces_with_child(status):
                await self._delete(resource, namespace, name)
                await self._release(resource, namespace)
            await drop_finalizer(self._writes, stored, self._fan.finalizer)
        return Outcome()

    async def _provision(self, stored: StoredObject, resource: Document) -> Outcome:
        status = member(resource, "status")
        name, former = fan_out.child_name(self._fan, resource), status.get(self._fan.name_field)
        try:
            chosen = self._chosen(stored)
        except SyncError as error:
            return await self._failed(stored, resource, error)
        for namespace in fan_out.namespaces_with_child(status):
            if former and former != name:
                await self._delete(resource, namespace, former)
            if namespace not in chosen:
                await self._delete(resource, namespace, name)
                await self._release(resource, namespace)
        provisioned: list[str] = []
        failed: dict[str, str] = {}
        for namespace in chosen:
            reason = await self._ensure_child(resource, namespace, name)
            if reason:
                failed[namespace] = reason
            else:
                provisioned.append(namespace)
        await self._report(stored, fan_out.status_after(self._fan, resource, provisioned, failed))
        self._remember(stored.ref, failed)
        interval = self._interval(resource)
        return Outcome(self._context.clock.now() + interval if interval > 0 else None)

    def _chosen(self, stored: StoredObject) -> list[str]:
        """The namespaces that are wanted, but for those that are going away: nothing can be made there."""
        if self._fan is fan_out.EXTERNAL:
            wanted = stored.as_type(ClusterExternalSecret).spec
            first = [wanted.namespace_selector] if wanted.namespace_selector else []
            names, selectors = wanted.namespaces, [*first, *wanted.namespace_selectors]
        else:
            names, selectors = (), list(stored.as_type(ClusterPushSecret).spec.namespace_selectors)
        chosen = fan_out.chosen(names, selectors, self._context.inventory.namespaces)
        return [namespace for namespace in chosen if not self._is_leaving(namespace)]

    def _is_leaving(self, namespace: str) -> bool:
        stored = self._context.inventory.get(ObjectRef("", "Namespace", "", namespace))
        return stored is not None and bool(stored.as_type(_Head).metadata.deletion_timestamp)

    def _interval(self, resource: Document) -> float:
        """How often all is looked at without a change; a malformed one was warned of, and is none."""
        try:
            return parse_duration(member(resource, "spec").get("refreshTime") or "0s")
        except DurationError:
            return 0.0

    async def _ensure_child(self, resource: Document, namespace: str, name: str) -> str:
        """The child as it should be; the reason why it is not, where it is not."""
        observed = await self._writes.get(ObjectRef(GROUP, self._fan.child, namespace, name))
        current = observed.document if observed is not None else None
        if current is not None and not fan_out.owned(self._fan, resource, current):
            return self._fan.name_taken
        desired = fan_out.desired_child(self._fan, resource, namespace, current)
        try:
            await self._hold(resource, namespace)
            if current is None:
                await self._writes.create(desired)
            elif desired != current:
                await self._writes.update(desired)
        except Conflict:
            raise
        except HomeError as error:
            return str(error)
        return ""

    async def _hold(self, resource: Document, namespace: str) -> None:
        """Keep the namespace from going before the child has been cleaned up after."""
        stored = await self._namespace(namespace)
        if stored is not None:
            await ensure_finalizer(
                self._writes, stored, self._fan.namespace_finalizer + resource["metadata"]["name"]
            )

    async def _release(self, resource: Document, namespace: str) -> None:
        stored = await self._namespace(namespace)
        if stored is not None:
            await drop_finalizer(
                self._writes, stored, self._fan.namespace_finalizer + resource["metadata"]["name"]
            )

    async def _namespace(self, name: str) -> StoredObject | None:
        """The namespace, where this resource marks namespaces at all."""
        ref = ObjectRef("", "Namespace", "", name)
        if not (self._fan.namespace_finalizer and self._writes.may_mark(ref)):
            return None
        return await self._writes.get(ref)

    async def _delete(self, resource: Document, namespace: str, name: str) -> None:
        child = ObjectRef(GROUP, self._fan.child, namespace, name)
        observed = await self._writes.get(child)
        if observed is not None and fan_out.owned(self._fan, resource, observed.document):
            await delete_if_there(self._writes, observed)

    async def _failed(self, stored: StoredObject, resource: Document, error: SyncError) -> Outcome:
        now = stamp(self._context.clock.now())
        await self._report(
            stored, fan_out.status_on_selector_error(self._fan, resource, str(error), timestamp=now)
        )
        self._remember(stored.ref, {"unknown": str(error)})
        return Outcome(failure=error)

    def _remember(self, ref: ObjectRef, failed: dict[str, str]) -> None:
        if not failed:
            self._context.memory.succeeded(ref)
            return
        message = "; ".join(f"{namespace}: {reason}" for namespace, reason in sorted(failed.items()))
        self._context.memory.failed(ref, Failure(self._context.clock.now(), message))
        self._context.events.event(ref, warning=True, reason="NamespacesFailed", message=message)

    async def _report(self, stored: StoredObject, status: dict[str, Any]) -> None:
        if status != stored.document.get("status"):
            await self._writes.update_status(stored, status)
