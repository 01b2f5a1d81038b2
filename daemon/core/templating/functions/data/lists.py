"""Lists: list, append, first, rest, slice, uniq, has, chunk, until, seq and others.

A panic in Go and an error of a `must` function are the same error here.
"""

import math
from typing import Final, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.data.casts import to_int
from syncret.daemon.core.templating.functions.data.comparison import ValueSet, deep_equal, empty
from syncret.daemon.core.templating.golang import types
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.types import slice_of
from syncret.daemon.core.templating.golang.values import (
    NO_VALUE,
    TypedList,
    Uint8,
    Value,
    ints,
    type_of,
    wrapped,
)

_ENTRY_SIZE: Final = 8
"""Size of a reference in a list."""

_NUMBER_SIZE: Final = 40
"""Approximate size of a number in a list."""

_CHUNKS: Final = slice_of(types.LIST)
_MOST_PARAMETERS: Final = 3


def members(value: Value, purpose: str) -> list[Value]:
    """The members of any list, which must not be changed. Raises FunctionError for another type."""
    if isinstance(value, list):
        return cast("list[Value]", value)
    if isinstance(value, bytes):
        return [Uint8(byte) for byte in value]
    if value is None or value is NO_VALUE:
        raise FunctionError("the list is nil")
    raise FunctionError(f"cannot {purpose} type {type_of(value).kind.value}")


def _nil_list() -> TypedList:
    return TypedList(types.LIST, is_nil=True)


def new_list(*values: Value) -> list[Value]:
    return list(values)


def push(context: Context, target: Value, value: Value) -> list[Value]:
    found = members(target, "push on")
    context.budget.make(len(found) * _ENTRY_SIZE)
    return [*found, value]


def prepend(context: Context, target: Value, value: Value) -> list[Value]:
    found = members(target, "prepend on")
    context.budget.make(len(found) * _ENTRY_SIZE)
    return [value, *found]


def first(target: Value) -> Value:
    found = members(target, "find first on")
    return found[0] if found else None


def last(target: Value) -> Value:
    found = members(target, "find last on")
    return found[-1] if found else None


def rest(context: Context, target: Value) -> list[Value]:
    found = members(target, "find rest on")
    context.budget.make(len(found) * _ENTRY_SIZE)
    return found[1:] if found else _nil_list()


def initial(context: Context, target: Value) -> list[Value]:
    found = members(target, "find initial on")
    context.budget.make(len(found) * _ENTRY_SIZE)
    return found[:-1] if found else _nil_list()


def reverse(context: Context, target: Value) -> list[Value]:
    found = members(target, "find reverse on")
    context.budget.make(len(found) * _ENTRY_SIZE)
    return found[::-1]


def compact(context: Context, target: Value) -> list[Value]:
    found = members(target, "compact on")
    context.budget.step(len(found))
    return [value for value in found if not empty(value)]


def uniq(context: Context, target: Value) -> list[Value]:
    found = members(target, "find uniq on")
    context.budget.step(2 * len(found))
    seen = ValueSet(context)
    kept: list[Value] = []
    for value in found:
        if value not in seen:
            seen.add(value)
            kept.append(value)
    return kept


def without(context: Context, target: Value, *unwanted: Value) -> list[Value]:
    found = members(target, "find without on")
    context.budget.step(2 * len(found))
    dropped = ValueSet(context, unwanted)
    return [value for value in found if value not in dropped]


def has(context: Context, wanted: Value, target: Value) -> bool:
    if target is None:
        return False
    found = members(target, "find has on")
    context.budget.step(len(found))
    return any(deep_equal(context, wanted, value) for value in found)


def part(context: Context, target: Value, *bounds: Value) -> Value:
    """`slice`: a part of a list, of the same type; nil if the list is empty."""
    found = members(target, "slice")
    if not found:
        return None
    start = to_int(bounds[0]) if bounds else 0
    end = to_int(bounds[1]) if len(bounds) > 1 else len(found)
    if not 0 <= start <= end <= len(found):
        raise FunctionError("slice index out of bounds")
    context.budget.make((end - start) * _ENTRY_SIZE)
    if isinstance(target, bytes):
        return target[start:end]
    return TypedList(target.go_type, found[start:end]) if isinstance(target, TypedList) else found[start:end]


def concat(context: Context, *targets: Value) -> list[Value]:
    joined: list[Value] = []
    for target in targets:
        found = members(target, "concat")
        context.budget.make(len(found) * _ENTRY_SIZE)
        joined.extend(found)
    return joined or _nil_list()


def chunk(context: Context, size: int, target: Value) -> TypedList:
    """Split into lists of `size` members. Sizes below 1 behave as in Go."""
    found = members(target, "chunk")
    if size == 0:
        raise FunctionError("the size is 0")
    count = math.floor((len(found) - 1) / size) + 1
    if count < 0 or (size < 0 < count and not (len(found) == 1 and size < -1)):
        raise FunctionError("the size is negative")
    size = abs(size)
    context.budget.make(len(found) * _ENTRY_SIZE + count * 10 * _ENTRY_SIZE)
    return TypedList(_CHUNKS, [list(found[number * size : (number + 1) * size]) for number in range(count)])


def until(context: Context, count: int) -> TypedList:
    return until_step(context, 0, count, -1 if count < 0 else 1)


def until_step(context: Context, start: int, stop: int, step: int) -> TypedList:
    return ints(_range(context, start, stop, step))


def seq(context: Context, *parameters: int) -> str:
    """Numbers with both ends included; the parameters are END, START END, or START STEP END."""
    if not 1 <= len(parameters) <= _MOST_PARAMETERS:
        return ""
    end = parameters[-1]
    start = parameters[0] if len(parameters) > 1 else 1
    direction = -1 if end < start else 1
    step = parameters[1] if len(parameters) == _MOST_PARAMETERS else direction
    if direction < 0 < step:
        return ""
    return " ".join(map(str, _range(context, start, wrapped(end + direction), step)))


def _range(context: Context, start: int, stop: int, step: int) -> range:
    if step == 0 or (step > 0) != (stop >= start):
        return range(0)
    row = range(start, stop, step)
    context.budget.make(((stop - start) // step + 1) * _NUMBER_SIZE)
    return row


FUNCTIONS: Final[FunctionTable] = table(
    {
        "append": push,
        "chunk": chunk,
        "compact": compact,
        "concat": concat,
        "first": first,
        "has": has,
        "initial": initial,
        "last": last,
        "list": new_list,
        "mustAppend": push,
        "mustChunk": chunk,
        "mustCompact": compact,
        "mustFirst": first,
        "mustHas": has,
        "mustInitial": initial,
        "mustLast": last,
        "mustPrepend": prepend,
        "mustPush": push,
        "mustRest": rest,
        "mustReverse": reverse,
        "mustSlice": part,
        "mustUniq": uniq,
        "mustWithout": without,
        "prepend": prepend,
        "push": push,
        "rest": rest,
        "reverse": reverse,
        "seq": seq,
        "slice": part,
        "tuple": new_list,
        "uniq": uniq,
        "until": until,
        "untilStep": until_step,
        "without": without,
    }
)
