"""Defaults (default, coalesce, ternary, empty), types of values (typeOf, kindOf ...), and deepEqual."""

from collections.abc import Hashable, Iterable
from typing import Final, NoReturn, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import GoObject, TypedList, TypedMap, Value, type_of

_MOST_LEVELS = 100
_MEMBER_COST = 4
"""Cost of comparing one pair of members."""


def default(fallback: Value, *given: Value) -> Value:
    return fallback if not given or empty(given[0]) else given[0]


def empty(value: Value) -> bool:
    """Whether it is nil, false, 0 or has no members; a struct is never empty."""
    if isinstance(value, (str, bytes, list, dict)):
        return not cast("Value", value)
    return value is None or (isinstance(value, (bool, int, float, complex)) and value == 0)


def coalesce(*values: Value) -> Value:
    return next((value for value in values if not empty(value)), None)


def ternary(if_true: Value, if_false: Value, condition: bool) -> Value:  # noqa: FBT001 (the signature is Go's)
    return if_true if condition else if_false


def all_(*values: Value) -> bool:
    return not any(map(empty, values))


def any_(*values: Value) -> bool:
    return not all(map(empty, values))


def fail(_message: str) -> NoReturn:
    # The message may contain values.
    raise FunctionError("the template called fail")


def type_name(value: Value) -> str:
    return "<nil>" if value is None else type_of(value).name


def type_is(target: str, value: Value) -> bool:
    return target == type_name(value)


def type_is_like(target: str, value: Value) -> bool:
    return type_name(value) in {target, f"*{target}"}


def kind_name(value: Value) -> str:
    return "invalid" if value is None else type_of(value).kind.value


def kind_is(target: str, value: Value) -> bool:
    return target == kind_name(value)


def deep_equal(context: Context, left: Value, right: Value) -> bool:
    """As Go's reflect.DeepEqual: types count, so 1 is not 1.0, and a nil list is not an empty one."""
    return _equal(context, left, right, 0, set())


def _equal(context: Context, left: Value, right: Value, level: int, met: set[tuple[int, int]]) -> bool:
    """Compare recursively. `met` has the pairs compared so far, none of which is compared again."""
    if level > _MOST_LEVELS:
        raise FunctionError("the values are nested too deeply")
    if left is None or right is None:
        return left is right
    if type_of(left) != type_of(right) or _is_nil(left) != _is_nil(right):
        return False
    pair = (id(left), id(right))
    if left is right or pair in met:
        return True
    if isinstance(left, list):
        met.add(pair)
        context.budget.step(_MEMBER_COST * len(cast("list[Value]", left)))
        ours, theirs = cast("list[Value]", left), cast("list[Value]", right)
        return len(ours) == len(theirs) and all(
            _equal(context, one, other, level + 1, met) for one, other in zip(ours, theirs, strict=True)
        )
    if not isinstance(left, dict):
        return left == right or (isinstance(left, GoObject) and vars(left) == vars(right))
    met.add(pair)
    context.budget.step(_MEMBER_COST * len(cast("dict[Value, Value]", left)))
    mine, yours = cast("dict[Value, Value]", left), cast("dict[Value, Value]", right)
    return mine.keys() == yours.keys() and all(
        _equal(context, value, yours[key], level + 1, met) for key, value in mine.items()
    )


def _is_nil(value: Value) -> bool:
    return isinstance(value, (TypedList, TypedMap)) and value.is_nil


class ValueSet:
    """A set of values of any type, compared as `deep_equal` does. Comparisons are charged."""

    def __init__(self, context: Context, values: Iterable[Value] = ()) -> None:
        self._context = context
        self._simple: set[tuple[type, Hashable]] = set()
        self._nested: list[Value] = []
        for value in values:
            self.add(value)

    def add(self, value: Value) -> None:
        if isinstance(value, (list, dict, GoObject)):
            self._nested.append(cast("Value", value))
        elif value == value:  # noqa: PLR0124 (NaN is not equal to itself)
            self._simple.add((type(value), value))

    def __contains__(self, value: object) -> bool:
        if isinstance(value, (list, dict, GoObject)):
            nested = cast("Value", value)
            self._context.budget.step(10 * len(self._nested))
            return any(deep_equal(self._context, nested, other) for other in self._nested)
        return value == value and (type(value), value) in self._simple  # noqa: PLR0124 (as above)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "all": all_,
        "any": any_,
        "coalesce": coalesce,
        "deepEqual": deep_equal,
        "default": default,
        "empty": empty,
        "fail": fail,
        "kindIs": kind_is,
        "kindOf": kind_name,
        "ternary": ternary,
        "typeIs": type_is,
        "typeIsLike": type_is_like,
        "typeOf": type_name,
    }
)
