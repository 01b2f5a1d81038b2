"""The verdict on fetched values, and its condition; a violation is reported by its key and its constraint.

The code that checks constraints is imported only if an ExternalSecret has any.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from syncret.config.resources.external_secret import ExternalSecret, ExternalSecretCondition
from syncret.daemon.core import conditions
from syncret.providers.work import Work

ANNOTATION: Final = "syncret.dev/constraints"
"""The annotation by which fetched values are checked: `{"keys": {KEY: [CONSTRAINTS]}, "policy": "block"}`."""

SATISFIED: Final = "Satisfied"
VIOLATED: Final = "Violated"
NOT_FETCHED: Final = "NotFetched"
_STATUSES: Final = {SATISFIED: "True", VIOLATED: "False", NOT_FETCHED: "Unknown"}


_VIOLATED: Final = "violated: "


class Verdict(NamedTuple):
    """The result of checking fetched values; the message has keys and constraints, and no value."""

    reason: str
    message: str
    is_blocked: bool = False
    """Whether nothing may be written."""


def violation(violated: Mapping[str, str]) -> str:
    """The message of a verdict: the first violated constraint of each key."""
    return _VIOLATED + ", ".join(f"{key}: {name}" for key, name in violated.items())


def violated_keys(message: str) -> frozenset[str]:
    """The keys that such a message names."""
    violations = message.removeprefix(_VIOLATED) if message.startswith(_VIOLATED) else ""
    return frozenset(each.rpartition(": ")[0] for each in violations.split(", ") if each)


def check(annotations: Mapping[str, str], values: Mapping[str, bytes], work: Work) -> Verdict | None:
    """The verdict on fetched values; None without constraints. Raises OverBudget."""
    annotation = annotations.get(ANNOTATION)
    if annotation is None:
        return None
    from syncret.daemon.core.constraints.annotation import verdict_on

    return verdict_on(annotation, values, work)


def reported(
    resource: ExternalSecret,
    verdict: Verdict | None,
    found: tuple[ExternalSecretCondition, ...],
    now: float,
) -> tuple[ExternalSecretCondition, ...]:
    """The conditions with that of the constraints, as long as there are any.

    The last verdict is kept if nothing was fetched, or a key is missing.
    """
    if ANNOTATION not in resource.metadata.annotations:
        return tuple(each for each in found if each.type != conditions.CONSTRAINTS_SATISFIED)
    is_known = conditions.find(found, conditions.CONSTRAINTS_SATISFIED) is not None
    if is_known and (verdict is None or verdict.reason == NOT_FETCHED):
        return found
    current = verdict if verdict is not None else Verdict(NOT_FETCHED, "nothing has been fetched yet")
    condition = ExternalSecretCondition(
        type=conditions.CONSTRAINTS_SATISFIED,
        status=_STATUSES[current.reason],
        reason=current.reason,
        message=current.message,
    )
    return conditions.put(found, condition, now=now)
