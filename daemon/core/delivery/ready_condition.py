"""The Ready condition of a Delivery: how its last delivery ended, and why."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from syncret.config.resources.delivery.status import DeliveryStatus
from syncret.daemon.core.conditions import find
from syncret.daemon.core.delivery.phases import Phase, Reason, Row

_MESSAGES: Final[Mapping[Reason, str]] = {
    Reason.DELIVERED: "is live",
    Reason.STAGE_FAILED: "could not be written",
    Reason.CHECK_FAILED: "did not pass its check, and the one before stays",
    Reason.SWAP_FAILED: "could not be made live, and the one before stays",
    Reason.RELOAD_FAILED: "is live, but its reload failed",
    Reason.UNHEALTHY: "is live, but was not found to work",
    Reason.ROLLED_BACK: "failed, and the one before is live again",
    Reason.BROKEN: "failed, and so did the rollback: an administrator has to repair it",
}
_OF_THE_LIVE: Final = (Reason.DELIVERED, Reason.RELOAD_FAILED, Reason.UNHEALTHY)
"""Reasons of a set that is live; the others are about the next set, which did not go live."""


class ReadyCondition(Struct, frozen=True, kw_only=True):
    """Status, reason and message of the condition."""

    is_ready: bool
    reason: Reason
    message: str


def condition_of(
    row: Row, before: DeliveryStatus, *, problem: str, skips_reload: bool
) -> ReadyCondition | None:
    """The condition for a row; None while a delivery is under way, or if it is reported already.

    `skips_reload`: reload and proof were left out.
    """
    ending = _MESSAGES.get(row.reason)
    if row.phase not in (Phase.SETTLED, Phase.BROKEN) or ending is None:
        return None
    message = f"set {row.generation + (row.reason not in _OF_THE_LIVE)} {ending}"
    if problem:
        message += f": {problem}"
    if skips_reload and row.reason is Reason.DELIVERED:
        message += "; reload and healthy are left out: nothing runs yet"
    condition = find(before.conditions)
    if condition is not None and condition.reason == row.reason and not problem and row.rejected:
        return None  # the run that failed reported it with its problem, which is not known any more
    return ReadyCondition(is_ready=row.reason is Reason.DELIVERED, reason=row.reason, message=message)


def waiting_for_restart(row: Row, seconds: float) -> ReadyCondition:
    """The condition while a restart waits for the start limit of its unit."""
    wait = f"its restart waits {max(1, round(seconds))} s: so many are near the unit's start limit"
    message = f"set {row.generation + 1} is live, and {wait}"
    return ReadyCondition(is_ready=False, reason=Reason.THROTTLED, message=message)


def reload_not_requested(row: Row, problem: str) -> ReadyCondition:
    """The condition after a reload that could not be requested."""
    message = f"set {row.generation + 1} is live, and its reload could not be requested: {problem}"
    return ReadyCondition(is_ready=False, reason=Reason.RELOAD_FAILED, message=message)
