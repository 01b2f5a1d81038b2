"""Finds the last failure of an object and when it is due, from the API server alone."""

from collections.abc import Sequence

import msgspec

from syncret.config.durations import DurationError
from syncret.config.resources.kinds import kind_of
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.core.schedule import refresh
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.user import ClusterEvent


class _Condition(msgspec.Struct, frozen=True, rename="camel"):
    type: str = ""
    status: str = ""
    message: str = ""
    last_transition_time: str | None = None


class _Status(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...] | None = None


class _Object(msgspec.Struct, frozen=True):
    status: _Status = _Status()


def last_error(stored: StoredObject, events: Sequence[ClusterEvent]) -> LastError | None:
    """Why the object is not ready, with the remedy; None if it is, or nothing was tried yet.

    ESO's condition names no cause, but its event does; ours have the remedy in the event alone.
    """
    try:
        conditions = stored.as_type(_Object).status.conditions or ()
    except msgspec.ValidationError:
        return None
    condition = next((each for each in conditions if each.type == "Ready"), None)
    if condition is None or condition.status != "False":
        return None
    since, message = seconds(condition.last_transition_time or "") or 0.0, condition.message
    event = next((each for each in events if each.warning and each.seconds >= since - 1), None)
    if event is None:
        return LastError(since, message)
    cause, hint = _with_remedy(message, event.message)
    return LastError(max(since, event.seconds), cause, hint)


def _with_remedy(condition: str, event: str) -> tuple[str, str]:
    """What both say, once, and the remedy, which an event of ours has in brackets after the cause."""
    cause = condition.partition(": ")[2] or condition
    before, brackets, remedy = event.partition(f"{cause} (")
    if cause and brackets and remedy.endswith(")"):
        return before + cause, remedy[:-1]
    return (event, "") if not cause or cause in event else (f"{condition}: {event}", "")


def failures(events: Sequence[ClusterEvent]) -> int:
    """How often the newest warning was reported."""
    return next((each.count for each in events if each.warning), 1)


def due(stored: StoredObject, now: float, *, spread: bool) -> float | None:
    """When time or a change asks for the next run of an object that is in order; None: not to be known."""
    kind = kind_of(stored.ref.group_kind)
    try:
        if kind is not None and kind.role == "sync":
            synced = stored.as_type(kind.model)
            if refresh.is_due(synced, now, spread=spread):  # type: ignore[arg-type]  # by its role
                return now
            return refresh.next_due(synced, now, spread=spread)  # type: ignore[arg-type]  # as above
        if kind is not None and kind.role == "push":
            pushed = stored.as_type(kind.model)
            is_due = refresh.is_push_due(pushed, now)  # type: ignore[arg-type]  # as above
            return now if is_due else refresh.next_push_due(pushed, now)  # type: ignore[arg-type]  # as above
    except (msgspec.ValidationError, DurationError):
        pass  # a malformed object has a condition that says so
    return None
