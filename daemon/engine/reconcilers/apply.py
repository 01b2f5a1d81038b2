"""Carries out the actions of a plan, and publishes the report of a run."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from syncret.config.meta import Metadata, ObjectRef, member
from syncret.daemon.core.plan.actions import Action, LastError, Report, Verb, is_carried_out
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Conflict, HomeError, NotFound, OutcomeUnknown, StoredObject
from syncret.providers.errors import SyncError

MAX_FINALIZER_TRIES: Final = 5


class _Head(msgspec.Struct):
    metadata: Metadata


async def ensure_finalizer(writes: Writes, stored: StoredObject, finalizer: str) -> StoredObject:
    """The object with the finalizer on it; written only where it was missing."""
    metadata = stored.as_type(_Head).metadata
    if finalizer in metadata.finalizers:
        return stored
    held, _ = await add_finalizer(writes, stored, metadata, finalizer)
    return held


async def add_finalizer(
    writes: Writes, stored: StoredObject, metadata: Metadata, finalizer: str
) -> tuple[StoredObject, Metadata]:
    """The object with one more finalizer, and its metadata then."""
    held = await writes.set_finalizers(stored, [*metadata.finalizers, finalizer])
    written = held.as_type(_Head).metadata
    if finalizer not in written.finalizers:
        raise Conflict(f"{stored.ref}: its finalizers are not as they were written")
    return held, written


async def drop_finalizer(writes: Writes, stored: StoredObject, finalizer: str) -> StoredObject:
    """Remove the finalizer; a deleted object is gone with its last one. Returns the new version.

    If the object has changed since, the finalizer is removed from the newer version: nothing is cleaned up
    twice.
    """
    newest = stored
    for _ in range(MAX_FINALIZER_TRIES):
        finalizers = newest.as_type(_Head).metadata.finalizers
        if finalizer not in finalizers:
            return newest
        try:
            return await writes.set_finalizers(newest, [kept for kept in finalizers if kept != finalizer])
        except NotFound:
            return newest
        except Conflict:
            found = await writes.get(stored.ref)
            if found is None or found.uid != stored.uid:
                return newest
            newest = found
    raise Conflict(f"{stored.ref}: its finalizers change all the time")


class RefusedAction(NamedTuple):
    """The write at which a plan ended, and why."""

    action: Action
    error: HomeError


async def apply(
    context: ReconcilerContext, writes: Writes, run: ObjectRef, actions: Iterable[Action]
) -> RefusedAction | None:
    """Carry out the actions in their order, up to the first that the home refuses.

    Raises Conflict where an object is not as it was when its action was decided: decide again. Any other
    error means that the outcome of a write is not known.
    """
    for action in actions:
        if writes.holds(action):
            continue
        try:
            done = await _write(writes, action)
        except OutcomeUnknown:
            found = await writes.get_after_write(action.ref)
            if not is_carried_out(action, None if found is None else found.document):
                raise
            done = True
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


async def carry_out(
    context: ReconcilerContext, writes: Writes, run: ObjectRef, actions: Iterable[Action]
) -> None:
    """Carry out all of the actions. Raises the error of the first that the home refuses."""
    refused = await apply(context, writes, run, actions)
    if refused is not None:
        raise refused.error


async def _write(writes: Writes, action: Action) -> bool:
    """Whether the write changed anything."""
    document = action.document or {}
    try:
        match action.verb:
            case Verb.CREATE:
                await writes.create(document, field_manager=action.field_manager)
            case Verb.UPDATE:
                stored = await writes.update(document, field_manager=action.field_manager)
                # What the home fills in makes them differ; the same version means that nothing was written.
                return stored.resource_version != _version(action).resource_version
            case Verb.DELETE:
                return await delete_if_there(writes, _version(action))
            case Verb.SET_FINALIZERS:
                finalizers = member(document, "metadata").get("finalizers") or ()
                await writes.set_finalizers(_version(action), finalizers)
    except NotFound as error:
        raise Conflict(f"{action.ref}: the object is gone") from error
    return True


def _version(action: Action) -> StoredObject:
    """The version that the action was decided on, as far as a write names it."""
    metadata = member(action.before or {}, "metadata")
    uid, version = metadata.get("uid", ""), metadata.get("resourceVersion", "")
    return StoredObject(ref=action.ref, uid=uid, resource_version=version, data=b"")


async def _located(context: ReconcilerContext, ref: ObjectRef, error: LastError) -> LastError:
    """The error with the line of the field that is wrong, where the object's own manifest is."""
    begin = context.home.manifest_of(ref) if error.field else None
    if begin is None:
        return error
    place = await context.home.field_place(ref, error.field, error.text_line)
    return error if place is None else error._replace(lines_below=max(0, place.line - begin.line))


async def publish(context: ReconcilerContext, writes: Writes, seen: StoredObject, report: Report) -> Outcome:
    """Publish the result of a run for this version of its object.

    The status comes last: if it can only be written later, everything else has been published already.
    Raises Conflict where the object has another spec by now.
    """
    if report.last_error is None:
        context.memory.succeeded(seen.ref, report.origins)
    else:
        context.memory.failed(seen.ref, await _located(context, seen.ref, report.last_error))
    for reason, message, warning in () if writes.observes else report.events:
        context.events.event(seen.ref, warning=warning, reason=reason, message=message)
    if report.status is not None:
        await writes.update_status(seen, report.status)
    failure = report.failure
    if failure is not None and not isinstance(failure, SyncError | HomeError):
        raise failure
    return Outcome(report.next_due, failure=failure)
