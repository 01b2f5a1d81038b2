"""The budget of one sync of one object: steps of work, and bytes that it makes.

Each function whose cost depends on a manifest or an answer takes a Work, and pays before it does anything: a
loop for each turn, a text before it is made. Everything for one object pays from one Work, so that a hundred
properties together cost no more than one may. Work is counted, not timed: the limit is equal on all machines.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from syncret.providers.errors import OverBudget

T = TypeVar("T")

MEGABYTE: Final = 1_000_000
STEPS_A_SECOND: Final = 3_500_000
"""Steps on a usual machine: one takes about a quarter of a microsecond, the cheapest of a template."""

BYTES_PER_STEP: Final = 64
"""How many bytes are filled in a step."""


APART_COST: Final = 20_000
"""Steps for a call in a worker process: it takes longer, but others run meanwhile."""


class Work:
    """The budget that is left for one sync of one object; by default the limits of the settings.

    A limit that was exceeded stays exceeded: each further step raises OverBudget again.
    """

    __slots__ = ("at_once", "memory", "steps")

    def __init__(self, *, seconds: float = 1.0, memory: int = 64 * MEGABYTE, at_once: bool = False) -> None:
        """`seconds` is how long a usual machine takes for it; `memory` is in bytes.

        `at_once`: it is done on the event loop, and again with more in a thread if that is not enough.
        """
        self.steps = round(seconds * STEPS_A_SECOND)
        self.memory = memory
        self.at_once = at_once

    def step(self, count: int = 1) -> None:
        """Pay for steps that will be done. Raises OverBudget."""
        self.steps -= count
        if self.steps < 0:
            raise _too_much_work()

    def make(self, size: int) -> None:
        """Pay for so many bytes that will be made, and for filling them. Raises OverBudget."""
        self.take(size // BYTES_PER_STEP, size)

    def take(self, steps: int, memory: int) -> None:
        """Pay for steps and bytes. Raises OverBudget."""
        self.memory -= memory
        if self.memory < 0:
            raise OverBudget(
                "the object makes more data than workMemory allows",
                hint="make less: read smaller values, repeat fewer of them; or raise workMemory",
            )
        self.steps -= steps
        if self.steps < 0:
            raise _too_much_work()

    def begin_long(self) -> None:
        """Announce a long computation in one piece: it is never done on the event loop. Raises OverBudget."""
        if self.at_once:
            self.stop()
            raise _too_much_work()

    def apart(self, doing: str, function: Callable[..., T], *arguments: object) -> T:
        """The result of one long call that would hold up the whole process.

        In a daemon it is made in another process, with limits of time and memory. The function is one of a
        module; its arguments and its result are plain data (lists come back for tuples). `doing` is for the
        message of OverBudget.
        """
        del doing
        self.begin_long()
        self.step(APART_COST)
        return function(*arguments)

    @property
    def spent(self) -> bool:
        """Whether a limit has been exceeded."""
        return self.steps < 0 or self.memory < 0

    def stop(self) -> None:
        """End what still runs with this Work in another thread, at its next step."""
        self.steps = -1

    def __repr__(self) -> str:
        return f"<Work steps={self.steps} memory={self.memory}>"


def _too_much_work() -> OverBudget:
    return OverBudget(
        "the object asks for more work than workTime allows",
        hint="ask for less: fewer and simpler paths, rewrites and templates; or raise workTime",
    )
