"""Limits of one rendering. Work is counted, not timed, so that the limit is the same on every machine."""

from typing import Final

from syncret.daemon.core.templating.golang.errors import FunctionError

MEGABYTE: Final = 1_000_000
_BYTES_PER_UNIT: Final = 64
_UNITS_A_SECOND: Final = 3_500_000


class Budget:
    """What is left for one rendering; each rendering needs a new one. Methods raise FunctionError at a limit.

    A unit of cost is about the cheapest step of a template, a quarter of a microsecond.

    Args:
        output: bytes that the template may write.
        memory: bytes that functions may allocate, for all results of the rendering together.
        cost: units of work.
        keys: keys and certificates that may be generated.
        depth: levels of templates that invoke one another.
    """

    __slots__ = ("cost", "depth", "keys", "memory", "output")

    def __init__(
        self,
        *,
        output: int = 10 * MEGABYTE,
        memory: int = 10 * MEGABYTE,
        cost: int = 350_000,
        keys: int = 10,
        depth: int = 100,
    ) -> None:
        self.output = output
        self.memory = memory
        self.cost = cost
        self.keys = keys
        self.depth = depth

    @classmethod
    def of(cls, *, seconds: float, memory: int, keys: int) -> "Budget":
        """The work that a usual machine does in that time; `memory` limits both results and output."""
        return cls(output=memory, memory=memory, cost=round(seconds * _UNITS_A_SECOND), keys=keys)

    @property
    def spent(self) -> bool:
        """Whether a limit has been exceeded."""
        return min(self.cost, self.memory, self.output, self.keys) < 0

    def charge(self, units: int) -> None:
        """Charge for work."""
        self.cost -= units
        if self.cost < 0:
            raise FunctionError("the template does more than its budget of work allows")

    def allocate(self, size: int) -> None:
        """Charge for `size` bytes that will be allocated, and for the work of filling them."""
        self.memory -= size
        if self.memory < 0:
            raise FunctionError("the template makes more data than its budget of memory allows")
        self.charge(size // _BYTES_PER_UNIT)

    def write(self, size: int) -> None:
        """Charge for `size` bytes of output."""
        self.output -= size
        if self.output < 0:
            raise FunctionError("the template writes more than its budget of output allows")

    def make_key(self) -> None:
        """Charge for one key or certificate."""
        self.keys -= 1
        if self.keys < 0:
            raise FunctionError("the template makes more keys than its budget allows")
