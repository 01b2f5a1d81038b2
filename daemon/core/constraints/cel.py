"""Rules in CEL over one variable, `value`. The library is imported for the first rule: most have none.

In a daemon `mistake` and `holds` run in a worker process, with its limits of time and memory: the engine of
the library has none of its own.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cel_expr_python import cel

LONGEST: Final = 1_000
"""Characters of a rule, which bounds its cost."""

_LOOPS: Final = re.compile(r"\.\s*(?:all|exists|exists_one|existsOne|map|filter)\s*\(")
_MOST_LOOPS: Final = 2
"""Nested loops over literals of the rule; three of them could block a process."""


class RuleError(Exception):
    """The text is no rule; the message quotes neither a value nor the rule."""


@lru_cache(maxsize=1)
def _environment() -> "cel.Env":
    try:
        from cel_expr_python import cel
    except ImportError:
        raise RuleError("needs an engine for CEL: install syncret with its extra, syncret[exports]") from None

    return cel.NewEnv(variables={"value": cel.Type.STRING})


@lru_cache(maxsize=256)
def compiled(source: str) -> "cel.Expression":
    """The compiled rule. Raises RuleError."""
    if len(source) > LONGEST:
        raise RuleError(f"the rule is longer than {LONGEST} characters")
    if len(_LOOPS.findall(source)) > _MOST_LOOPS:
        raise RuleError(f"the rule has more than {_MOST_LOOPS} loops")
    try:
        expression = _environment().compile(source)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0].rpartition("ERROR: ")[2]
        raise RuleError(f"is not valid CEL: {reason}") from None
    if expression.return_type().name() not in {"BOOL", "DYN"}:
        raise RuleError("the rule must yield true or false")
    return expression


def mistake(source: str) -> str:
    """The mistake in a rule; empty: none."""
    try:
        compiled(source)
    except RuleError as error:
        return str(error)
    return ""


def holds(source: str, value: str) -> bool:
    """Whether the rule yields true; one that fails on this value does not hold."""
    try:
        expression = compiled(source)
        return expression.eval(_environment().Activation({"value": value})).value() is True
    except RuntimeError:  # its message may quote the value
        return False
