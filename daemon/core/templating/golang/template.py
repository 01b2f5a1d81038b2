"""Go templates: parsed once, cached, rendered often."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable
from syncret.daemon.core.templating.golang.builtins import BUILTINS
from syncret.daemon.core.templating.golang.errors import Place
from syncret.daemon.core.templating.golang.evaluate import compile_nodes
from syncret.daemon.core.templating.golang.execution import MissingKey, Run, Step
from syncret.daemon.core.templating.golang.parser import parse
from syncret.daemon.core.templating.golang.values import NO_VALUE, Value

LARGEST: Final = 1_000_000
"""Characters of a template. A Kubernetes object is not much larger."""

_CACHED: Final = 4096
_CACHED_LENGTH: Final = 16_000
_DELIMITERS: Final = ("{{", "}}")
_TOO_DEEP: Final = "templates or values are nested too deeply"


class Functions:
    """Functions in addition to Go's predefined ones, which they may replace; and a cache of templates."""

    def __init__(self, functions: FunctionTable) -> None:
        self.table: FunctionTable = {**BUILTINS, **functions}
        self.parse_cached = lru_cache(maxsize=_CACHED)(self.parse)

    def parse(self, name: str, text: str, left: str, right: str) -> "Template":
        """Parse a template; `parse_cached` does the same with a cache. Raises TemplateError."""
        try:
            trees = parse(name, text, self.table, left, right)
            steps = {inner: compile_nodes(inner, text, body, self.table) for inner, body in trees.items()}
        except RecursionError:
            raise Place(name, text, 0).error(_TOO_DEEP) from None
        return Template(name, text, steps)


NO_FUNCTIONS: Final = Functions({})
"""Go's predefined functions only."""


class Template:
    """A parsed template. It is immutable: any number of renderings may use it at once."""

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
        """Parse a template, or take it from the cache. Raises TemplateError.

        An empty delimiter means the default one. The text is a Go string (see `values`).
        """
        if len(text) > LARGEST:
            raise Place(name, text, 0).error(f"the template is longer than {LARGEST} characters")
        left, right = delims[0] or _DELIMITERS[0], delims[1] or _DELIMITERS[1]
        if len(text) > _CACHED_LENGTH:
            return functions.parse(name, text, left, right)
        return functions.parse_cached(name, text, left, right)

    def render(self, data: Value, context: Context, *, missing_key: MissingKey = "default") -> bytes:
        """Render the template for a dot, which is a Go value (see `values`). Raises TemplateError."""
        run = Run(context, missing_key, self._steps)
        if data is None:
            data = NO_VALUE
        run.names.append("$")
        run.values.append(data)
        try:
            self._steps[self.name](run, data)
        except RecursionError:
            raise Place(self.name, self._text, 0).error(_TOO_DEEP) from None
        return "".join(run.out).encode("utf-8", "surrogateescape")
