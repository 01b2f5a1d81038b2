"""Conditions of a status: built, found and compared, with times as Kubernetes writes them (RFC 3339, UTC)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Protocol, TypeVar, cast

import msgspec


def stamp(seconds: float) -> str:
    """Seconds since the epoch as `2026-01-01T00:00:00Z`; fractions are cut off."""
    return _stamp(int(seconds))


@lru_cache(maxsize=16)  # thousands of timestamps fall within the same second
def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00") + "Z"


def seconds(text: str) -> float | None:
    """The epoch seconds of a timestamp; None for an empty or a malformed one."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


READY: Final = "Ready"

REACHABLE: Final = "Reachable"
"""Whether a store answers. A condition of ours, which a store has once it has not answered."""

CONSTRAINTS_SATISFIED: Final = "ConstraintsSatisfied"
"""Whether the fetched values satisfy the constraints of an ExternalSecret; only if it has any."""

RUN_FAILED: Final = "RunFailed"
"""The reason of a condition that no status has: the last run failed and could not write one."""


INVALID_MANIFEST: Final = "InvalidManifest"
"""The reason of an object that does not exist because its manifest is invalid; no status has it."""


class Condition(Protocol):
    """The common fields of the condition models of all kinds."""

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
    for condition in conditions:
        if condition.type == kind:
            return condition
    return None


def ready(
    model: type[C], *, status: bool, reason: str = "", message: str = "", condition_type: str = READY
) -> C:
    """A condition, usually Ready, that has not been put in a status yet."""
    verdict = "True" if status else "False"
    fields = {"type": condition_type, "status": verdict, "reason": reason, "message": message}
    return msgspec.convert(fields, model)


def put(conditions: Sequence[C], new: C, *, now: float) -> tuple[C, ...]:
    """The conditions with `new` in place of the one of its type.

    An equal one stays as it is; the transition time moves only when the status itself flips. Ready comes
    first: some readers look at the first one only.
    """
    old = find(conditions, new.type)
    if old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
        return tuple(conditions)
    since = old.last_transition_time if old is not None and old.status == new.status else stamp(now)
    kept = tuple(condition for condition in conditions if condition.type != new.type)
    dated = cast("C", msgspec.structs.replace(cast("msgspec.Struct", new), last_transition_time=since))
    return (dated, *kept) if new.type == READY else (*kept, dated)
