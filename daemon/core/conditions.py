"""Conditions: what a status says about an object, and when that last changed."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar, cast

import msgspec

from syncret.daemon.core.timestamps import stamp

READY: Final = "Ready"


class Condition(Protocol):
    """What the condition models of all kinds have in common."""

    @property
    def type(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def last_transition_time(self) -> str: ...


C = TypeVar("C", bound=Condition)
"""The condition model of one kind: a msgspec struct."""


def find(conditions: Iterable[C], kind: str = READY) -> C | None:
    """The condition of that type."""
    return next((condition for condition in conditions if condition.type == kind), None)


def ready(model: type[C], *, status: bool, reason: str = "", message: str = "") -> C:
    """A Ready condition that has not been put in a status yet."""
    fields = {"type": READY, "status": "True" if status else "False", "reason": reason, "message": message}
    return msgspec.convert(fields, model)


def put(conditions: Sequence[C], new: C, *, now: float) -> tuple[C, ...]:
    """The conditions with `new` in place of the one of its type.

    An equal one stays as it is; the transition time moves only when the status itself flips.
    """
    old = find(conditions, new.type)
    if old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
        return tuple(conditions)
    since = old.last_transition_time if old is not None and old.status == new.status else stamp(now)
    kept = tuple(condition for condition in conditions if condition.type != new.type)
    dated = cast("C", msgspec.structs.replace(cast("msgspec.Struct", new), last_transition_time=since))
    return (*kept, dated)
