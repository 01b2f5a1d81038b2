"""Conditions: what a status says of an object, and when that last changed."""

from collections.abc import Iterable

import msgspec

from syncret.config.meta import Condition
from syncret.daemon.core.timestamps import stamp

READY = "Ready"


def find(conditions: Iterable[Condition], kind: str = READY) -> Condition | None:
    """The condition of that type."""
    return next((condition for condition in conditions if condition.type == kind), None)


def ready(*, status: bool, reason: str = "", message: str = "") -> Condition:
    """A Ready condition that has not been put in a status yet."""
    return Condition(type=READY, status="True" if status else "False", reason=reason, message=message)


def put(conditions: tuple[Condition, ...], new: Condition, *, now: float) -> tuple[Condition, ...]:
    """The conditions with `new` in place of the one of its type.

    An equal one stays as it is; the transition time moves only when the status itself flips.
    """
    old = find(conditions, new.type)
    if old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
        return conditions
    since = old.last_transition_time if old is not None and old.status == new.status else stamp(now)
    kept = tuple(condition for condition in conditions if condition.type != new.type)
    return (*kept, msgspec.structs.replace(new, last_transition_time=since))
