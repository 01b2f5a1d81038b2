"""Carries out the actions of a plan, and publishes what a run reports."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.ownership import CREATED_BY, MANAGED, Refusal, controlled_by, created_by
from syncret.daemon.core.plan.actions import Action, Report, Verb, is_carried_out
from syncret.daemon.core.secret import field_manager, within_immutable
from syncret.daemon.core.target import TargetForm, form_of
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.templates import rendering_for
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Conflict, HomeError, NotFound, OutcomeUnknown, StoredObject
from syncret.providers.errors import SyncError


class _Finalizers(msgspec.Struct):
    finalizers: tuple[str, ...] = ()


class _Head(msgspec.Struct):
    metadata: _Finalizers


async def ensure_finalizer(writes: Writes, stored: StoredObject, finalizer: str) -> StoredObject:
    """The object with the finalizer on it; written only where it was missing."""
    finalizers = stored.as_type(_Head).metadata.finalizers
    if finalizer in finalizers:
        return stored
    return await writes.set_finalizers(stored, [*finalizers, finalizer])


async def drop_finalizer(writes: Writes, stored: StoredObject, finalizer: str) -> StoredObject:
    """The object without the finalizer; the last one of a deleted object lets it go."""
    finalizers = stored.as_type(_Head).metadata.finalizers
    if finalizer not in finalizers:
        return stored
    try:
        return await writes.set_finalizers(stored, [kept for kept in finalizers if kept != finalizer])
    except NotFound:
        return stored


async def report_status(
    context: ReconcilerContext, writes: Writes, ref: ObjectRef, uid: str, status: Mapping[str, Any]
) -> None:
    """Write the status that a run came to, unless the object is gone or another one."""
    seen = context.inventory.get(ref)
    if seen is not None and seen.uid == uid:
        await writes.update_status(seen, status)


class RefusedAction(NamedTuple):
    """The write at which a plan ended, and why."""

    action: Action
    error: HomeError


async def apply(
    context: ReconcilerContext, writes: Writes, run: ObjectRef, actions: Iterable[Action]
) -> RefusedAction | None:
    """Carry out the actions in their order, up to the first that the home refuses.

    Raises Conflict where an object is not as it was when its action was decided: decide again.
    """
    for action in actions:
        try:
            done = await _carry_out(writes, action)
        except Conflict:
            raise
        except HomeError as error:
            return RefusedAction(action, error)
        if done:
            context.applied(run, action)
            if action.event is not None:
                reason, message, warning = action.event
                context.events.event(run, warning=warning, reason=reason, message=message)
    return None


async def _carry_out(writes: Writes, action: Action) -> bool:
    """Whether the write changed anything."""
    try:
        return await _write(writes, action)
    except OutcomeUnknown:
        found = await writes.get(action.ref)
        if is_carried_out(action, None if found is None else found.document):
            return True
        raise
    except NotFound as error:
        if action.verb is Verb.DELETE:
            return False
        raise Conflict(f"{action.ref}: the object is gone") from error


async def _write(writes: Writes, action: Action) -> bool:
    document, before = action.document or {}, _version(action)
    match action.verb:
        case Verb.CREATE:
            await writes.create(document, field_manager=action.field_manager)
        case Verb.UPDATE:
            stored = await writes.update(document, field_manager=action.field_manager)
            # What the home fills in makes them differ; the same version means that nothing was written.
            return stored.resource_version != before.resource_version
        case Verb.DELETE:
            await writes.delete(before)
        case Verb.SET_FINALIZERS:
            await writes.set_finalizers(before, member(document, "metadata").get("finalizers") or ())
    return True


def _version(action: Action) -> StoredObject:
    """The version that the action was decided on, as far as a write names it."""
    metadata = member(action.before or {}, "metadata")
    uid, version = metadata.get("uid", ""), metadata.get("resourceVersion", "")
    return StoredObject(ref=action.ref, uid=uid, resource_version=version, data=b"")


async def publish(context: ReconcilerContext, writes: Writes, seen: StoredObject, report: Report) -> Outcome:
    """Publish what a run came to for this version of its object.

    The status comes last: if it can only be written later, everything else has been published already.
    Raises Conflict where the object has another spec by now.
    """
    if report.last_error is None:
        context.memory.succeeded(seen.ref, report.origins)
    else:
        context.memory.failed(seen.ref, report.last_error)
    for reason, message, warning in report.events:
        context.events.event(seen.ref, warning=warning, reason=reason, message=message)
    if report.status is not None:
        await writes.update_status(seen, report.status)
    failure = report.failure
    if failure is not None and not isinstance(failure, SyncError | HomeError):
        raise failure
    return Outcome(report.next_due, failure=failure)


class TargetWriter:
    """All writes of targets pass here, so that each is booked, told, and its echo expected."""

    def __init__(self, context: ReconcilerContext, writes: Writes) -> None:
        self._context = context
        self._writes = writes

    async def mark(self, resource: ExternalSecret, observed: StoredObject | None) -> StoredObject | None:
        """The target with the label of what is managed; a Secret that is there gets it before all else."""
        generic = resource.spec.target.manifest is not None
        if observed is None or generic or not self._writes.may_mark(observed.ref):
            return observed
        document = observed.document
        labels = document["metadata"].setdefault("labels", {})
        if labels.get(MANAGED) == "true":
            return observed
        labels[MANAGED] = "true"
        await self._writes.update(document, field_manager=field_manager(resource))
        return await self._writes.get(observed.ref)

    async def check(
        self, resource: ExternalSecret, form: TargetForm, current: Document | None, data: Mapping[str, bytes]
    ) -> None:
        """Whether the target could be made. Raises Refusal or Malformed where it could not."""
        await self._desired(resource, form, current, data)

    async def write(
        self, resource: ExternalSecret, form: TargetForm, current: Document | None, data: Mapping[str, bytes]
    ) -> None:
        """Create the target, or update it if it differs.

        Raises Refusal, Invalid, TargetUnavailable, or Conflict where it changed meanwhile.
        """
        desired = await self._desired(resource, form, current, data)
        if current is None:
            await self._create(resource, desired)
        elif desired != current:
            await self._update(resource, current, desired)

    async def _desired(
        self, resource: ExternalSecret, form: TargetForm, current: Document | None, data: Mapping[str, bytes]
    ) -> Document:
        """The object to write. A template is rendered in a thread: it may make keys, or be a stranger's."""
        template = resource.spec.target.template
        if template is None:
            return form.desired(resource, current, data, None)
        bench = self._context.templates.bench()
        rendering = await rendering_for(template, bench, self._context.home, resource.metadata.namespace)
        return await bench.run(lambda: form.desired(resource, current, data, rendering))

    async def drop_former(self, resource: ExternalSecret, form: TargetForm) -> None:
        """Delete every Secret with the label of this owner but its target: the name of that has changed."""
        if resource.spec.target.manifest is not None:
            return
        owner, target = (resource.metadata.namespace, resource.metadata.name), form.ref(resource)
        label = created_by(*owner)
        for ref in self._context.owned_secrets.candidates(*owner):
            known = self._context.inventory.get(ref)
            if ref == target or ref.namespace != target.namespace or known is None:
                continue
            observed = await self._writes.get(ref)
            if observed is None:
                continue
            if member(observed.document, "metadata", "labels").get(CREATED_BY) == label:
                await self.delete(resource, ref)

    async def delete(self, resource: ExternalSecret, target: ObjectRef) -> None:
        """Delete the target, if it is there."""
        observed = await self._writes.get(target)
        if observed is None or not await delete_if_there(self._writes, observed):
            return
        self._tell(resource, "Deleted", f"{target} deleted")

    async def clean_up(self, resource: ExternalSecret) -> None:
        """The ExternalSecret goes: with deletionPolicy Delete, what it controls goes with it."""
        if resource.spec.target.deletion_policy != "Delete":
            return
        target = form_of(resource).ref(resource)
        if resource.spec.target.manifest is not None:
            if self._context.options.allow_generic_targets:
                await self.delete(resource, target)
            return
        observed = await self._writes.get(target)
        if observed is not None and controlled_by(observed.document, resource.metadata.uid):
            await self.delete(resource, target)

    async def _create(self, resource: ExternalSecret, desired: Document) -> None:
        stored = await self._writes.create(desired, field_manager=field_manager(resource))
        self._tell(resource, "Created", f"{stored.ref} created")

    async def _update(self, resource: ExternalSecret, current: Document, desired: Document) -> None:
        whole = True
        if current.get("immutable") and resource.spec.target.manifest is None:
            desired, whole = within_immutable(current, desired)
        if desired != current:
            stored = await self._writes.update(desired, field_manager=field_manager(resource))
            # What the home fills in makes them differ; the same version means that nothing was written.
            if stored.resource_version != current["metadata"].get("resourceVersion"):
                self._tell(resource, "Updated", f"{stored.ref} updated")
        if not whole:
            raise Refusal("could not update secret, target is immutable", "its data would have to change")

    def _tell(self, resource: ExternalSecret, reason: str, message: str) -> None:
        self._context.events.event(resource.ref, warning=False, reason=reason, message=message)
