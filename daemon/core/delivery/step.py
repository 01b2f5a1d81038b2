"""What a delivery tells of itself, step by step: metrics count it."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.delivery.phases import Outcome

StepName: TypeAlias = Literal["due", "check", "swap", "reload", "told", "rollback", "repair", "over"]


class Step(Struct, frozen=True, kw_only=True):
    """One step of one Delivery. Times are of the monotonic clock.

    `due`: a change or a reload is owed; told again as long as it is. `over`: nothing is owed any more.
    `reload` is told once for all Deliveries of a turn, `told` by each that had one.
    """

    ref: ObjectRef
    name: StepName
    at: float
    """When it began."""
    result: str = ""
    action: str = ""
    """Of a reload: what was done."""
    seconds: float = 0.0


StepListener: TypeAlias = Callable[[Step], object]
"""Hears of each step, on the event loop."""


def ignore_step(step: Step) -> None:
    """Do nothing: the default."""
    del step


def result_of(outcome: Outcome) -> str:
    """How a check, a reload or a proof ended, as status and metrics say it."""
    return "success" if outcome is Outcome.DONE else outcome.value
