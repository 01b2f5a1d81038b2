"""Truth, equality and order of values by Go's rules, and the order of a map's keys."""

from collections.abc import Mapping
from math import isnan
from typing import Final, cast

from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.types import UNSIGNED, Kind
from syncret.daemon.core.templating.golang.values import (
    NO_VALUE,
    GoObject,
    Integer,
    TypedList,
    TypedMap,
    Value,
    bytes_of,
    type_of,
)

_BAD: Final = "invalid type for comparison"
_BASIC: Final[dict[type, str]] = {bool: "bool", int: "int", float: "float", complex: "complex", str: "string"}


def truth(value: Value) -> bool:
    """Whether the value is not the zero of its type; structs are always true."""
    return value is not NO_VALUE and (isinstance(value, GoObject) or bool(value))


def equal(first: Value, second: Value) -> bool:
    """`eq` of two."""
    left, right = basic_kind(first), basic_kind(second)
    if left != right:
        if {left, right} == {"int", "uint"}:
            return first == second
        if _missing(first) or _missing(second):
            return False
        raise FunctionError(f"incompatible types for comparison: {type_of(first)} and {type_of(second)}")
    if left:
        return first == second
    return _equal_others(first, second)


def _equal_others(first: Value, second: Value) -> bool:
    if not (_missing(first) or _missing(second)) and type_of(first).kind is not type_of(second).kind:
        raise FunctionError(f"non-comparable types: {type_of(first)} and {type_of(second)}")
    if _is_nil(first) or _is_nil(second):
        return _is_nil(first) and _is_nil(second)
    if type_of(second).kind in {Kind.SLICE, Kind.MAP, Kind.FUNC}:
        raise FunctionError(f"non-comparable type: {type_of(second)}")
    return type_of(first) == type_of(second) and first == second


def _missing(value: Value) -> bool:
    return value is None or value is NO_VALUE


def _is_nil(value: Value) -> bool:
    return _missing(value) or (isinstance(value, TypedList | TypedMap) and value.is_nil)


def less(first: Value, second: Value) -> bool:
    """`lt` of two."""
    left, right = basic_kind(first), basic_kind(second)
    if not left or not right:
        raise FunctionError(_BAD)
    if left != right and {left, right} != {"int", "uint"}:
        raise FunctionError(f"incompatible types for comparison: {type_of(first)} and {type_of(second)}")
    if left == "string":
        return _before(cast("str", first), cast("str", second))
    if left in {"bool", "complex"}:
        raise FunctionError(_BAD)
    return cast("float", first) < cast("float", second)


def _before(first: str, second: str) -> bool:
    if first.isascii() and second.isascii():
        return first < second
    return bytes_of(first) < bytes_of(second)


def basic_kind(value: Value) -> str:
    """The family in which the value is compared (`int`, `uint`, `string` ...); empty if there is none."""
    known = _BASIC.get(type(value))
    if known is not None:
        return known
    if isinstance(value, Integer):
        return "uint" if value.go_type.kind in UNSIGNED else "int"
    return ""


def sorted_keys(items: Mapping[Value, Value]) -> list[Value]:
    """The keys of a map in Go's order: strings by their bytes, NaN before all numbers."""
    return sorted(items, key=_rank)


def _rank(key: Value) -> tuple[int, bytes | float | int]:
    if isinstance(key, str):
        return 1, bytes_of(key)
    if isinstance(key, float) and isnan(key):
        return -1, 0
    return 0, key if isinstance(key, int | float) else 0
