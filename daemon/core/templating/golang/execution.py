"""The state of one rendering: its output, the visible variables, the budget."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang.values import Value

MissingKey: TypeAlias = Literal["default", "zero", "error"]


class Run:
    """The state of one rendering. The variables are a stack that is searched from the top, as in Go."""

    __slots__ = ("budget", "context", "depth", "missing_key", "names", "out", "templates", "values")

    def __init__(self, context: Context, missing_key: MissingKey, templates: "Mapping[str, Step]") -> None:
        self.context = context
        self.budget = context.budget
        self.missing_key: MissingKey = missing_key
        self.templates = templates
        self.out: list[str] = []
        self.names: list[str] = []
        self.values: list[Value] = []
        self.depth = 0

    def write(self, text: str) -> None:
        """Write, and charge the budget."""
        self.budget.write(len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape")))
        self.out.append(text)

    def find(self, name: str) -> int:
        """The index of the innermost variable of this name; -1 if none is declared."""
        names = self.names
        for index in range(len(names) - 1, -1, -1):
            if names[index] == name:
                return index
        return -1

    def forget(self, mark: int) -> None:
        """Remove the variables above the mark."""
        del self.names[mark:]
        del self.values[mark:]


Step: TypeAlias = Callable[[Run, Value], None]
"""A compiled node: it takes the dot and writes."""

Expression: TypeAlias = Callable[[Run, Value], Value]
"""A compiled operand: it takes the dot and returns a value."""

Stage: TypeAlias = Callable[[Run, Value, Value], Value]
"""A compiled later command of a pipeline: it takes the dot and the result of the previous command."""
