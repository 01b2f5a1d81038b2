"""Logs what the engine reports: events of objects, failures of stores, bugs."""

import structlog

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.observer import Call, NullObserver, Run
from syncret.daemon.engine.reconciler import Failure
from syncret.providers.errors import SyncError
from syncret.providers.kit.ambient.rules import Verdict
from syncret.providers.kit.retry import Retry

log = structlog.get_logger()


class EventLogger:
    """An `EventRecorder` that logs the events of objects."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        (log.warning if warning else log.info)(message, object=ref, reason=reason)


class EngineLogger(NullObserver):
    """An observer of the engine that logs. Runs and calls are logged at debug level: metrics count them."""

    def ran(self, run: Run) -> None:
        failure = type(run.failure).__name__ if run.failure is not None else None
        log.debug(
            "reconciled",
            object=run.ref,
            seconds=round(run.seconds, 4),
            failure=failure,
            next_due=run.next_due,
        )

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        log.error(
            "a reconcile ended with an unexpected error; please report it", object=ref, error=error, at=where
        )

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        hint = getattr(failure, "hint", "")
        log.warning("a reconcile failed; it is tried again", object=ref, error=str(failure), hint=hint)

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
        log.info("no answer, trying again", store=store, pause=round(retry.pause, 1))

    def throttled(self, store: ObjectRef, seconds: float) -> None:
        log.warning("the secret manager asks for fewer calls", store=store, pause=round(seconds, 1))

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        if failure is None:
            log.debug("opened a client", store=store)
        else:
            log.warning("the store cannot be opened", store=store, error=str(failure), hint=failure.hint)

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
