"""Go templates: parsed once, cached, rendered often."""

from collections.abc import Mapping
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable
from syncret.daemon.core.templating.golang.builtins import BUILTINS
from syncret.daemon.core.templating.golang.errors import Place
from syncret.daemon.core.templating.golang.evaluate import compile_nodes
from syncret.daemon.core.templating.golang.execution import MissingKey, Run, Step
from syncret.daemon.core.templating.golang.parser import parse
from syncret.daemon.core.templating.golang.values import NO_VALUE, Value
from syncret.providers.kit.sized_cache import SizedCache
from syncret.providers.work import Work

LARGEST: Final = 1_000_000
"""Characters of a template. A Kubernetes object is not much larger."""

_CACHED: Final = 4096
_CACHED_BYTES: Final = 32 * 2**20
_CHARACTER_SIZE: Final = 330
_CHARACTER_COST: Final = 12
"""Bytes of a parsed action for each of its characters, and steps for parsing it."""

_TEXT_PER_STEP: Final = 32
DELIMITERS: Final = ("{{", "}}")
_TOO_DEEP: Final = "templates or values are nested too deeply"


class Functions:
    """Functions in addition to Go's predefined ones, which they may replace; and a cache of templates."""

    def __init__(self, functions: FunctionTable) -> None:
        self.table: FunctionTable = {**BUILTINS, **functions}
        self.parsed: SizedCache[tuple[str, str, str, str], Template] = SizedCache(
            most=_CACHED, most_bytes=_CACHED_BYTES
        )

    def parse(self, name: str, text: str, left: str, right: str) -> "Template":
        """Parse a template, without the cache. Raises TemplateError."""
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
        work: Work,
        functions: Functions = NO_FUNCTIONS,
        delims: tuple[str, str] = DELIMITERS,
    ) -> "Template":
        """Parse a template, or take it from the cache. Raises TemplateError, and OverBudget.

        An empty delimiter means the default one. The text is a Go string (see `values`).
        """
        if len(text) > LARGEST:
            raise Place(name, text, 0).error(f"the template is longer than {LARGEST} characters")
        left, right = delims[0] or DELIMITERS[0], delims[1] or DELIMITERS[1]
        key = (name, text, left, right)
        parsed = functions.parsed.get(key)
        if parsed is None:
            actions = _length_of_actions(text, left, right)
            size = _CHARACTER_SIZE * actions + len(text)
            work.take(_CHARACTER_COST * actions + len(text) // _TEXT_PER_STEP, size)
            parsed = functions.parse(name, text, left, right)
            functions.parsed.add(key, parsed, size)
        return parsed

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


def _length_of_actions(text: str, left: str, right: str) -> int:
    """At most so many characters of a text are inside of actions."""
    length = 0
    for part in text.split(left)[1:]:
        end = part.rfind(right)
        length += len(part) if end < 0 else end
    return length
