"""Limits of one rendering: of the kind of those of a whole sync, with errors that belong to a template."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeVar

from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.providers.work import APART_COST, BYTES_PER_STEP, MEGABYTE, Work

T = TypeVar("T")

_FAST_CHARACTERS: Final = 8
_CHARACTERS: Final = 2
"""How many characters are looked at in a step: those of ASCII have tables."""


class Budget(Work):
    """What is left for one rendering; each rendering needs a new one. Methods raise FunctionError at a limit.

    A step of work is about the cheapest step of a template.

    Args:
        seconds: how long a usual machine takes for all steps.
        memory: bytes that functions may make, for all results of the rendering together.
        output: bytes that the template may write; as many as `memory` by default.
        keys: keys and certificates that may be generated; None: a request, which makes none.
        depth: levels of templates that invoke one another.
        at_once: nothing that takes long in one piece is begun.
    """

    __slots__ = ("_whole", "depth", "keys", "output")

    def __init__(
        self,
        *,
        seconds: float = 0.1,
        memory: int = 10 * MEGABYTE,
        output: int | None = None,
        keys: int | None = 10,
        depth: int = 100,
        at_once: bool = False,
    ) -> None:
        super().__init__(seconds=seconds, memory=memory, at_once=at_once)
        self.output = memory if output is None else output
        self.keys = keys
        self.depth = depth
        self._whole = Work()

    def step(self, count: int = 1) -> None:
        """Charge for work."""
        self.steps -= count
        if self.steps < 0:
            raise FunctionError("the template does more work than templateTime allows")

    def make(self, size: int) -> None:
        """Charge for `size` bytes that will be made, and for the work of filling them."""
        self.take(size // BYTES_PER_STEP, size)

    def take(self, steps: int, memory: int) -> None:
        """Charge for work and bytes."""
        self.memory -= memory
        if self.memory < 0:
            raise FunctionError("the template makes more data than templateMemory allows")
        self.step(steps)

    def look_at_each(self, text: str) -> None:
        """Charge for a table or a loop that looks at each character of a text."""
        self.step(len(text) // (_FAST_CHARACTERS if text.isascii() else _CHARACTERS))

    def begin_long(self) -> None:
        """Leave what takes long to a thread."""
        if self.at_once:
            self.stop()
            raise FunctionError("the template does more than can be done at once")

    def write(self, size: int) -> None:
        """Charge for `size` bytes of output."""
        self.output -= size
        if self.output < 0:
            raise FunctionError("the template writes more data than templateMemory allows")

    def make_key(self) -> None:
        """Charge for one key or certificate."""
        if self.keys is None:
            raise FunctionError("the template of a request makes no keys: it is rendered at every read")
        self.keys -= 1
        if self.keys < 0:
            raise FunctionError("the template makes more keys than templateKeys allows")
        self.begin_long()

    def apart(self, doing: str, function: Callable[..., T], *arguments: object) -> T:
        """As that of the work that this budget is a part of."""
        self.begin_long()
        self.step(APART_COST)
        return self._whole.apart(doing, function, *arguments)

    @contextmanager
    def out_of(self, work: Work) -> Generator[None]:
        """Within the block, pay from a sync's work as well; what uses that up ends with OverBudget."""
        steps = self.steps = min(self.steps, work.steps)
        memory = self.memory = min(self.memory, work.memory)
        output = self.output
        self._whole = work
        try:
            yield
        finally:
            work.take(steps - self.steps, memory - self.memory + output - self.output)

    @property
    def spent(self) -> bool:
        """Whether a limit has been exceeded."""
        return super().spent or self.output < 0 or (self.keys or 0) < 0
