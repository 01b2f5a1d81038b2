"""Converts the row of a delivery to the status of its object, in which it is durable, and back."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import to_builtins
from msgspec.structs import replace

from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.delivery.status import (
    DeliveryAttempt,
    DeliveryStatus,
    LiveSet,
    NextSet,
    RejectedSet,
    StepResult,
    TargetStatus,
)
from syncret.daemon.core import conditions
from syncret.daemon.core.delivery.phases import Attempt, Phase, Reason, Row
from syncret.daemon.core.delivery.ready_condition import ReadyCondition

_ENDED: Final = frozenset(
    {
        *(Reason.DELIVERED, Reason.STAGE_FAILED, Reason.CHECK_FAILED, Reason.SWAP_FAILED),
        *(Reason.RELOAD_FAILED, Reason.UNHEALTHY, Reason.ROLLED_BACK, Reason.BROKEN),
    }
)


def row_of(status: DeliveryStatus) -> Row:
    """The row that a status holds."""
    live, coming = status.live or LiveSet(), status.next or NextSet()
    attempt = status.attempt or DeliveryAttempt()
    return Row(
        phase=Phase(status.phase or Phase.SETTLED),
        generation=live.generation,
        live=live.set,
        coming=coming.set if status.attempt is not None else "",
        rejected=status.rejected.set if status.rejected is not None else "",
        targets=len(attempt.places),
        done=attempt.done,
        staged=tuple([_identity(each) for each in attempt.staged]),
        asked=_asked(attempt),
        reason=_reason(status),
        cause=Reason(attempt.cause) if attempt.cause else None,
    )


def status_of(
    before: DeliveryStatus,
    row: Row,
    *,
    now: float,
    places: Sequence[tuple[str, str]],
    generation: int,
    condition: ReadyCondition | None,
    due_at: float | None = None,
    fingerprints: Mapping[str, str] | None = None,
) -> DeliveryStatus:
    """The status that holds a row. `places` are path and type of each target; without a condition it stays.

    `fingerprints` are those of sealed files, by path; None if they did not change.
    """
    if fingerprints is None:
        fingerprints = fingerprints_of(before)
    is_under_way = row.phase not in (Phase.SETTLED, Phase.BROKEN)
    is_new = before.live is None or row.generation != before.live.generation
    live = before.live
    if row.generation and is_new:
        live = LiveSet(generation=row.generation, set=row.live, since=conditions.stamp(now))
    elif live is not None and live.set != row.live:
        live = replace(live, set=row.live)
    coming = None
    if is_under_way:
        coming = NextSet(generation=row.generation + 1, set=row.coming)
    elif due_at is not None:
        coming = NextSet(generation=row.generation + 1, due_at=conditions.stamp(due_at))
    since = live.since if live is not None else ""
    return replace(
        before,
        conditions=before.conditions if condition is None else _conditions(before, condition, now),
        phase=row.phase.value,
        live=live,
        next=coming,
        rejected=_rejected(before, row, now),
        attempt=_attempt(row, [path for path, _ in places]) if is_under_way else None,
        observed_generation=before.observed_generation if is_under_way else generation,
        targets=tuple(
            [
                TargetStatus(
                    path=path,
                    type=kind,
                    live=bool(row.live),
                    since=since,
                    fingerprint=fingerprints.get(path, ""),
                )
                for path, kind in places
            ]
        ),
    )


def fingerprints_of(status: DeliveryStatus) -> dict[str, str]:
    """The fingerprints of the sealed files that were delivered last, by path."""
    return {each.path: each.fingerprint for each in status.targets if each.fingerprint}


def _reason(status: DeliveryStatus) -> Reason:
    """How the last delivery ended; the condition may have the reason why the next one cannot begin."""
    condition = conditions.find(status.conditions)
    if condition is not None and condition.reason in _ENDED:
        return Reason(condition.reason)
    if status.rejected is not None and status.rejected.reason in _ENDED:
        return Reason(status.rejected.reason)
    return Reason.DELIVERED if status.live is not None else Reason.PENDING


def with_origin(status: DeliveryStatus, *, from_cache: bool) -> DeliveryStatus:
    """The status, with whether what is live comes from the offline cache and is not confirmed."""
    live = status.live
    if live is None:
        return status
    return replace(status, live=replace(live, from_cache=from_cache and bool(live.set)))


def with_result(status: DeliveryStatus, step: str, result: StepResult) -> DeliveryStatus:
    """The status with the result of the last check, reload or proof."""
    return replace(status, **{f"last_{step}": result})


def document_of(status: DeliveryStatus) -> dict[str, Any]:
    """The status as a document."""
    document: dict[str, Any] = to_builtins(status)
    return document


def _conditions(before: DeliveryStatus, condition: ReadyCondition, now: float) -> tuple[ConditionStatus, ...]:
    ready = conditions.ready(
        ConditionStatus,
        status=condition.is_ready,
        reason=condition.reason.value,
        message=condition.message,
    )
    return conditions.put(before.conditions, ready, now=now)


def _rejected(before: DeliveryStatus, row: Row, now: float) -> RejectedSet | None:
    if not row.rejected:
        return None
    known = before.rejected
    if known is not None and known.set == row.rejected:
        return known
    return RejectedSet(set=row.rejected, reason=row.reason.value, at=conditions.stamp(now))


def _attempt(row: Row, places: Sequence[str]) -> DeliveryAttempt:
    asked = row.asked or Attempt(at=0, boot="")
    return DeliveryAttempt(
        places=tuple(places),
        done=row.done,
        staged=tuple([f"{device}:{inode}" for device, inode in row.staged]),
        asked_at=asked.at,
        boot=asked.boot,
        invocation=asked.invocation,
        restarts=asked.restarts,
        cause=row.cause.value if row.cause is not None else "",
    )


def _identity(text: str) -> tuple[int, int]:
    device, _, inode = text.partition(":")
    return int(device), int(inode)


def _asked(attempt: DeliveryAttempt) -> Attempt | None:
    if not attempt.asked_at:
        return None
    return Attempt(
        at=attempt.asked_at,
        boot=attempt.boot,
        invocation=attempt.invocation,
        restarts=attempt.restarts,
    )
