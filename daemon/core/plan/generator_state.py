"""GeneratorState, decided without any I/O: when what it records is cleaned up, and what is reported."""

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from syncret.config.meta import Document, is_object
from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.generators import GeneratorState
from syncret.daemon.core import conditions
from syncret.daemon.core.generator_states import FINALIZER
from syncret.daemon.core.plan.actions import Event, LastError, Report, Verdict
from syncret.providers.errors import Malformed, SyncError

CREATED: Final = Verdict(reason="Created", message="GeneratorState created")


class AddFinalizer(Struct, frozen=True):
    """The record gets our finalizer, so that what it records is cleaned up before it is gone."""


class Sleep(Struct, frozen=True):
    """The record is in force until its deadline, or (None) until it gets one."""

    next_due: float | None


class Delete(Struct, frozen=True):
    """Its deadline is over."""


class CleanUp(Struct, frozen=True):
    """The record is being deleted: have the generator clean up, then drop the finalizer."""

    generator: Document
    state: Document


class Conclude(Struct, frozen=True):
    """Nothing can or need be cleaned up: the record is released, or kept by the error."""

    error: SyncError | None = None


Step: TypeAlias = AddFinalizer | Sleep | Delete | CleanUp | Conclude


def next_step(record: GeneratorState, now: float) -> Step:
    """The one thing to do now."""
    spec, is_held = record.spec, FINALIZER in record.metadata.finalizers
    if record.metadata.deletion_timestamp:
        if spec is None or not is_held:
            return Conclude()
        if not is_object(spec.resource) or not is_object(spec.state):
            return Conclude(Malformed("spec.resource and spec.state must be objects"))
        return CleanUp(spec.resource, spec.state)
    if not is_held:
        return AddFinalizer()
    deadline = conditions.seconds(spec.garbage_collection_deadline) if spec is not None else None
    return Delete() if deadline is not None and deadline <= now else Sleep(deadline)


def report(
    record: GeneratorState, now: float, *, next_due: float | None = None, error: SyncError | None = None
) -> Report:
    """The report of a record that is in force, or whose clean-up failed."""
    if error is None:
        return Report(status=_status(record, CREATED, now), next_due=next_due)
    message = f"could not cleanup generator state: {error}"
    verdict = Verdict(ok=False, reason="Error", message=message, error=error)
    return Report(
        status=_status(record, verdict, now),
        events=(Event("CleanupFailed", message, warning=True),),
        last_error=LastError(now, message, error.hint),
        failure=error,
    )


def _status(record: GeneratorState, verdict: Verdict, now: float) -> Document | None:
    condition = conditions.ready(
        ConditionStatus, status=verdict.ok, reason=verdict.reason, message=verdict.message
    )
    found = conditions.put(record.status.conditions, condition, now=now)
    return None if found == record.status.conditions else {"conditions": msgspec.to_builtins(found)}
