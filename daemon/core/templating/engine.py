"""Templates, parsed once and rendered often."""

from collections.abc import Mapping
from typing import Final

from syncret.daemon.core.templating.builtins import BUILTINS
from syncret.daemon.core.templating.errors import TemplateError
from syncret.daemon.core.templating.evaluate import compile_nodes
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable
from syncret.daemon.core.templating.parser import parse
from syncret.daemon.core.templating.places import Place
from syncret.daemon.core.templating.running import MissingKey, Run, Step
from syncret.daemon.core.templating.values import NO_VALUE, Value

LARGEST: Final = 1_000_000
"""Characters of a template. A Kubernetes object cannot be much larger."""

_CACHED: Final = 4096
_CACHED_LENGTH: Final = 64_000
_DELIMITERS: Final = ("{{", "}}")


class Functions:
    """A set of functions that templates can call beside Go's own, which they may replace. Made once."""

    def __init__(self, functions: FunctionTable) -> None:
        self.table: FunctionTable = {**BUILTINS, **functions}
        self.parsed: dict[tuple[str, str, tuple[str, str]], Template] = {}


NO_FUNCTIONS: Final = Functions({})
"""Go's own functions only."""


class Template:
    """A template that parses. Immutable; any number of renderings may use it at once."""

    def __init__(self, name: str, text: str, steps: Mapping[str, Step]) -> None:
        self.name = name
        self._text = text
        self._steps = steps

    @classmethod
    def parse(
        cls,
        name: str,
        text: str,
        functions: Functions = NO_FUNCTIONS,
        delims: tuple[str, str] = _DELIMITERS,
    ) -> "Template":
        """The template, from the cache if its text has been parsed before. Raises TemplateError.

        An empty delimiter is the usual one. The text is a Go string (see `values`).
        """
        delims = delims[0] or _DELIMITERS[0], delims[1] or _DELIMITERS[1]
        key = name, text, delims
        known = functions.parsed.get(key)
        if known is not None:
            return known
        if len(text) > LARGEST:
            raise Place(name, text, 0).error(f"the template is longer than {LARGEST} characters")
        trees = parse(name, text, functions.table, *delims)
        steps = {inner: compile_nodes(inner, text, body, functions.table) for inner, body in trees.items()}
        made = cls(name, text, steps)
        if len(text) <= _CACHED_LENGTH:
            if len(functions.parsed) >= _CACHED:
                functions.parsed.pop(next(iter(functions.parsed)))
            functions.parsed[key] = made
        return made

    def render(self, data: Value, context: Context, *, missing_key: MissingKey = "default") -> bytes:
        """What the template writes for a dot, which is a Go value (see `values`). Raises TemplateError."""
        run = Run(context, missing_key, self._steps)
        if data is None:
            data = NO_VALUE
        run.names.append("$")
        run.values.append(data)
        try:
            self._steps[self.name](run, data)
        except RecursionError:
            raise self._too_deep() from None
        return "".join(run.out).encode("utf-8", "surrogateescape")

    def _too_deep(self) -> TemplateError:
        return Place(self.name, self._text, 0).error("templates or values stand too deep in one another")
