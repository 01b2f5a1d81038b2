"""The report of a run of a resource's exports: the current error, and an event of the resource."""

from collections.abc import Sequence
from typing import Final

from syncret.daemon.core.exports.problems import ExportProblem
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.plan.actions import Event, Report, last_error
from syncret.providers.errors import Malformed, OverBudget, SyncError

FAILED: Final = "AdditionalKubernetesObjWriteFailure"
"""The reason that Azure Service Operator gives in its own condition."""


def error_of(problems: Sequence[ExportProblem]) -> SyncError:
    """The first problem as an error, with its field; the number of the others."""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    error = (OverBudget if first.kind == "limit" else Malformed)(
        f"{first.path}: {first.message}{more}", hint=first.hint
    )
    return error.below(f"spec.{first.path}")


def joined(errors: Sequence[Exception]) -> Exception:
    """The first error of several objects, which names how many there are."""
    first = errors[0]
    if len(errors) == 1 or not isinstance(first, SyncError):
        return first
    return first.within(f"{len(errors)} objects")


def report(error: Exception | None, now: float, next_due: float | None) -> Report:
    """The report of a run that ended with this error, or with none."""
    if error is None:
        return Report(next_due=next_due)
    hint = getattr(error, "hint", "")
    message = f"{error} ({hint})" if hint else str(error)
    return Report(
        events=(Event(FAILED, message, warning=True),),
        last_error=last_error(error, now),
        failure=None if isinstance(error, Refusal) else error,
        next_due=next_due,
    )
