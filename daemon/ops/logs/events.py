"""Logs what the engine reports: events of objects, failures of stores, bugs; repeated ones less and less."""

from collections.abc import Callable, Sequence
from logging import DEBUG, INFO, WARNING
from typing import Any, Final

import structlog

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import role_of
from syncret.daemon.core.plan.actions import DELETED
from syncret.daemon.core.plan.held_write import HeldWrite
from syncret.daemon.engine.observer import Call, NullObserver, Run
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.ops.logs.repeats import Repeats, counted
from syncret.providers.errors import SyncError
from syncret.providers.kit.ambient.rules import Verdict
from syncret.providers.kit.retry import Retry

FIRST_WARNINGS: Final = 3
"""So many warnings are logged before a summary of all."""

AT_DEBUG_ONLY: Final = {"Synced", "Valid", "StoreUnmaintained"}
"""Reasons of events that are logged at level debug, even as warnings: nothing fails."""

log = structlog.get_logger()


def log_deletion(ref: ObjectRef) -> None:
    """Log that an object was deleted: its manifest or its owner is gone, or a policy asked for it."""
    bookkeeping = role_of(ref.group_kind) == "record"
    log.log(DEBUG if bookkeeping else INFO, "deleted", object=ref)


class EventLogger:
    """An `EventRecorder` that logs the events of objects. A repeated warning is not logged each time.

    Deletions are left to `log_deletion`: most of them are made by no run.
    """

    def __init__(
        self,
        repeats: Repeats | None = None,
        manifest_of: Callable[[ObjectRef], object | None] = lambda _: None,
        is_brief: Callable[[], bool] = lambda: False,
    ) -> None:
        """`manifest_of` says where the manifest of an object is: a warning names file and line.

        While `is_brief`, a summary follows: nothing but the first warnings is logged.
        """
        self._repeats = repeats or Repeats()
        self._manifest_of = manifest_of
        self._is_brief = is_brief
        self._warnings = 0

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        if not warning or reason in AT_DEBUG_ONLY:
            if reason != DELETED:
                is_quiet = self._is_brief() or reason in AT_DEBUG_ONLY
                log.log(DEBUG if is_quiet else INFO, message, object=ref, reason=reason)
            return
        times = self._repeats.occurred(ref, f"{reason}: {message}")
        if times:
            place = self._manifest_of(ref)
            fields = {} if place is None else {"manifest": str(place)}
            self._warnings += 1
            level = DEBUG if self._is_brief() and self._warnings > FIRST_WARNINGS else WARNING
            log.log(level, message, object=ref, reason=reason, **fields, **counted(times))


class EngineLogger(NullObserver):
    """An observer of the engine that logs. Runs and calls are logged at debug level: metrics count them.

    `repeats` is shared with the `EventLogger`: a run that succeeds ends the failures that it reported.
    """

    def __init__(self, repeats: Repeats | None = None) -> None:
        self._repeats = repeats or Repeats()
        self._failing: set[ObjectRef] = set()

    def ran(self, run: Run) -> None:
        failure = type(run.failure).__name__ if run.failure is not None else None
        log.debug(
            "reconciled",
            object=run.ref,
            seconds=round(run.seconds, 4),
            failure=failure,
            next_due=run.next_due,
        )
        if run.failure is not None:
            self._failing.add(run.ref)
        elif run.ref in self._failing:
            self._failing.discard(run.ref)
            log.info("the object is in order again", object=run.ref, warnings=self._repeats.over(run.ref))

    def removed(self, ref: ObjectRef) -> None:
        self._failing.discard(ref)
        self._repeats.over(ref)

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        times = self._repeats.occurred(ref, f"{error} {' '.join(where)}")
        if times:
            log.error(
                "a reconcile ended with an unexpected error; please report it",
                object=ref,
                error=error,
                at=where,
                **counted(times),
            )

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        hint = getattr(failure, "hint", "")
        text = "a reconcile failed; it is tried again"
        self._warn_repeatedly(ref, text, object=ref, error=str(failure), hint=hint)

    def held_back(self, ref: ObjectRef, held: Sequence[HeldWrite]) -> None:
        if held:
            log.info("observing: this would be written", object=ref, writes=[str(each) for each in held])
        else:
            log.info("observing: nothing would be written any more", object=ref)

    def listed(self, objects: int) -> None:
        log.info("the first pass begins", objects=objects)

    def first_pass(self, seconds: float) -> None:
        log.info("the first pass is done", seconds=round(seconds, 3))

    def called(self, call: Call) -> None:
        failure = type(call.failure).__name__ if call.failure is not None else None
        log.debug(
            "called the secret manager",
            store=call.store,
            operation=call.operation,
            seconds=round(call.seconds, 4),
            failure=failure,
        )

    def retried(self, store: ObjectRef, retry: Retry) -> None:
        times = self._repeats.occurred((store, "retried"), "")
        if times:
            log.info("no answer, trying again", store=store, pause=round(retry.pause, 1), **counted(times))

    def throttled(self, store: ObjectRef, seconds: float) -> None:
        text = "the secret manager asks for fewer calls"
        self._warn_repeatedly((store, "throttled"), text, store=store, pause=round(seconds, 1))

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        if failure is None:
            log.debug("opened a client", store=store)
        else:  # the run that needed it says so
            log.debug("a client could not be opened", store=store, error=str(failure), hint=failure.hint)

    def closed(self, store: ObjectRef, error: str) -> None:
        log.debug("closed a client", store=store, error=error)

    def sends_own_identity(self, store: ObjectRef, verdict: Verdict) -> None:
        log.info(
            "the daemon's own identity goes to a server that no setting names",
            store=store,
            server=verdict.server,
            sends=verdict.receiver.sends,
            hint=verdict.hint,
        )

    def clock_jumped(self, seconds: float) -> None:
        log.warning(
            "the system's clock was moved; due times follow it",
            seconds=round(seconds, 1),
            hint="let a time service keep the clock, in small steps",
        )

    def _warn_repeatedly(self, subject: object, message: str, **fields: Any) -> None:  # noqa: ANN401  # of a log line
        times = self._repeats.occurred(subject, f"{message} {fields.get('error', '')}")
        if times:
            log.warning(message, **fields, **counted(times))
