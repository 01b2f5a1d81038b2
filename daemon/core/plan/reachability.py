"""The condition Reachable of a store: whether it answers, beside ESO's verdict Ready.

A store gets it with its first outage: before that it has only the conditions that ESO gives it.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core import conditions
from syncret.daemon.core.plan.actions import Event, LastError, Report
from syncret.providers.errors import SyncError, Unavailable

NO_ANSWER: Final = "NoAnswer"
ANSWERS: Final = "Answers"


def is_unreachable(found: Sequence[ConditionStatus]) -> bool:
    """Whether the store is known not to have answered."""
    return problem_of(found) is not None


def problem_of(found: Sequence[ConditionStatus]) -> str | None:
    """The server of a store that does not answer, and why; None for one that does."""
    condition = conditions.find(found, conditions.REACHABLE)
    return condition.message if condition is not None and condition.status == "False" else None


def after_call(
    found: Sequence[ConditionStatus], error: SyncError | None, now: float
) -> tuple[ConditionStatus, ...]:
    """The conditions after a call that ended with this error, or (None) with an answer."""
    if isinstance(error, Unavailable):
        return put(found, error.problem, now) if error.problem else tuple(found)
    return put(found, "", now)


def put(found: Sequence[ConditionStatus], problem: str, now: float) -> tuple[ConditionStatus, ...]:
    """The conditions with this problem of the server, or (empty) without one."""
    if not problem and conditions.find(found, conditions.REACHABLE) is None:
        return tuple(found)
    condition = conditions.ready(
        ConditionStatus,
        condition_type=conditions.REACHABLE,
        status=not problem,
        reason=NO_ANSWER if problem else ANSWERS,
        message=problem or "the secret manager answers",
    )
    return conditions.put(found, condition, now=now)


def report_unreachable(
    store: SecretStore, error: Unavailable, now: float, *, next_due: float | None
) -> Report:
    """The report of a store that does not answer. Its condition Ready is unchanged."""
    problem = error.problem or "several calls in a row had no answer"
    message = f"the secret manager does not answer: {problem}"
    return Report(
        status=_status(store, problem, now),
        events=(Event(NO_ANSWER, message, warning=True),),
        last_error=LastError(now, message, error.hint),
        failure=error,
        next_due=next_due,
    )


def report_reachable(store: SecretStore, now: float, *, next_due: float | None) -> Report:
    """The report of a store that answers."""
    return Report(status=_status(store, "", now), next_due=next_due)


def _status(store: SecretStore, problem: str, now: float) -> dict[str, object] | None:
    """The status with the condition; None where it is as it was."""
    found = put(store.status.conditions, problem, now)
    if found == store.status.conditions:
        return None
    status: dict[str, object] = msgspec.to_builtins(msgspec.structs.replace(store.status, conditions=found))
    return status
