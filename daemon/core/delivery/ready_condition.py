"""What the condition of a Delivery says once it is settled: how it ended, and why."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from syncret.config.resources.delivery.status import DeliveryStatus
from syncret.daemon.core.conditions import find
from syncret.daemon.core.delivery.phases import Phase, Reason, Row

_SAID: Final[Mapping[Reason, str]] = {
    Reason.DELIVERED: "is live",
    Reason.STAGE_FAILED: "could not be written",
    Reason.CHECK_FAILED: "did not pass its check, and the one before stays",
    Reason.SWAP_FAILED: "could not be made live, and the one before stays",
    Reason.RELOAD_FAILED: "is live, and could not be told of",
    Reason.UNHEALTHY: "is live, and was not found to work",
    Reason.ROLLED_BACK: "failed, and the one before is live again",
    Reason.BROKEN: "failed, and so did the way back: somebody has to look",
}
_OF_THE_NEW: Final = (Reason.DELIVERED, Reason.RELOAD_FAILED, Reason.UNHEALTHY)
"""The set that it is about is live; otherwise it is the next one that did not come to be."""


class Say(Struct, frozen=True, kw_only=True):
    """What is reported beside the row."""

    is_ready: bool
    reason: Reason
    message: str


def say_of(row: Row, before: DeliveryStatus, *, problem: str, leaves_out: bool) -> Say | None:
    """What to report of a row; None while a delivery is under way, or if it was said already.

    `leaves_out`: reload and proof were left out.
    """
    said = _SAID.get(row.reason)
    if row.phase not in (Phase.SETTLED, Phase.BROKEN) or said is None:
        return None
    message = f"set {row.generation + (row.reason not in _OF_THE_NEW)} {said}"
    if problem:
        message += f": {problem}"
    if leaves_out and row.reason is Reason.DELIVERED:
        message += "; reload and healthy are left out: nothing runs yet"
    condition = find(before.conditions)
    if condition is not None and condition.reason == row.reason and not problem and row.rejected:
        return None  # it was said with the reason, which only the run that failed knows
    return Say(is_ready=row.reason is Reason.DELIVERED, reason=row.reason, message=message)


def waits_to_restart(row: Row, seconds: float) -> Say:
    """What to report while a restart waits for the start limit of its unit."""
    wait = f"its restart waits {max(1, round(seconds))} s: so many are near the unit's start limit"
    message = f"set {row.generation + 1} is live, and {wait}"
    return Say(is_ready=False, reason=Reason.THROTTLED, message=message)
