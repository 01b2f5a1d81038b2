"""Whether two values are the same all the way down, as Go's reflect.DeepEqual says; sets of values."""

from collections.abc import Hashable, Iterable
from typing import cast

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.values import GoObject, TypedList, TypedMap, Value, type_of

_MOST_LEVELS = 100


def deep_equal(left: Value, right: Value, level: int = 0) -> bool:
    """Types count: 1 is not 1.0, and a nil list is not an empty one."""
    if level > _MOST_LEVELS:
        raise FunctionError("the values are nested too deeply")
    if left is None or right is None:
        return left is right
    if type_of(left) != type_of(right) or _is_nil(left) != _is_nil(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return _lists_equal(cast("list[Value]", left), cast("list[Value]", right), level)
    if isinstance(left, dict) and isinstance(right, dict):
        return _maps_equal(cast("dict[Value, Value]", left), cast("dict[Value, Value]", right), level)
    if isinstance(left, GoObject):
        return left == right or vars(left) == vars(right)
    return left == right


def _is_nil(value: Value) -> bool:
    return isinstance(value, (TypedList, TypedMap)) and value.is_nil


def _lists_equal(left: list[Value], right: list[Value], level: int) -> bool:
    if left is right:
        return True
    return len(left) == len(right) and all(
        deep_equal(one, other, level + 1) for one, other in zip(left, right, strict=True)
    )


def _maps_equal(left: dict[Value, Value], right: dict[Value, Value], level: int) -> bool:
    if left is right:
        return True
    return left.keys() == right.keys() and all(
        deep_equal(value, right[key], level + 1) for key, value in left.items()
    )


class Members:
    """A set of values of any kind. Pays for the comparisons it makes."""

    def __init__(self, context: Context, values: Iterable[Value] = ()) -> None:
        self._context = context
        self._simple: set[tuple[type, Hashable]] = set()
        self._nested: list[Value] = []
        for value in values:
            self.add(value)

    def add(self, value: Value) -> None:
        if isinstance(value, (list, dict, GoObject)):
            self._nested.append(cast("Value", value))
        elif value == value:  # noqa: PLR0124 (what is not equal to itself is never found again)
            self._simple.add((type(value), value))

    def __contains__(self, value: object) -> bool:
        if isinstance(value, (list, dict, GoObject)):
            nested = cast("Value", value)
            self._context.budget.charge(10 * len(self._nested))
            return any(deep_equal(nested, other) for other in self._nested)
        return value == value and (type(value), value) in self._simple  # noqa: PLR0124 (as above)
