"""Choosing between values: default, coalesce, ternary; and what counts as empty."""

from typing import Final, NoReturn, cast

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.values import Value


def empty(value: Value) -> bool:
    """Nil, false, 0, and what has no members; a struct never is."""
    if isinstance(value, (str, bytes, list, dict)):
        return not cast("Value", value)
    return value is None or (isinstance(value, (bool, int, float, complex)) and value == 0)


def default(fallback: Value, *given: Value) -> Value:
    return fallback if not given or empty(given[0]) else given[0]


def coalesce(*values: Value) -> Value:
    return next((value for value in values if not empty(value)), None)


def all_(*values: Value) -> bool:
    return not any(map(empty, values))


def any_(*values: Value) -> bool:
    return not all(map(empty, values))


def ternary(if_true: Value, if_false: Value, condition: bool) -> Value:  # noqa: FBT001 (the signature is Go's)
    return if_true if condition else if_false


def fail(_message: str) -> NoReturn:
    # The message may be made of values.
    raise FunctionError("the template called fail")


FUNCTIONS: Final[FunctionTable] = table(
    {
        "all": all_,
        "any": any_,
        "coalesce": coalesce,
        "default": default,
        "empty": empty,
        "fail": fail,
        "ternary": ternary,
    }
)
