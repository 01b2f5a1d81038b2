"""The steps of a delivery that it reports to a listener, which counts them in metrics."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.delivery.phases import Outcome

StepName: TypeAlias = Literal["due", "check", "swap", "reload", "reloaded", "rollback", "repair", "over"]


class Step(Struct, frozen=True, kw_only=True):
    """One step of one Delivery. Times are of the monotonic clock.

    `due`: a change or a reload is due, reported by each run until it is done. `over`: nothing is due now.
    `reload` is reported once for all Deliveries of a turn, `reloaded` by each of them.
    """

    ref: ObjectRef
    name: StepName
    at: float
    """When it began."""
    result: str = ""
    action: str = ""
    """The kind of reload."""
    seconds: float = 0.0


StepListener: TypeAlias = Callable[[Step], object]
"""Called with each step, on the event loop."""


def ignore_step(step: Step) -> None:
    """Do nothing: the default."""
    del step


def result_of(outcome: Outcome) -> str:
    """How a check, a reload or a proof ended, as a word for status and metrics."""
    return "success" if outcome is Outcome.DONE else outcome.value
