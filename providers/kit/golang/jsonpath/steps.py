"""The parts of a JSONPath as functions: an expression returns one value, a step yields any number.

Each pays for every value that it looks at: nested `..` multiply, and a list of keys repeats what it finds.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

_VISIT: Final = 4
"""Steps for a value that an expression or a step looks at."""


class StepFailed(Exception):
    """A step cannot be applied to a value. The message names no key of the document."""


class Place(NamedTuple):
    """The context of an evaluation: `$`, the work it may spend, `@`."""

    root: Json
    work: Work
    current: Json = None

    def at(self, current: Json) -> "Place":
        """The same, with another `@`."""
        return Place(self.root, self.work, current)

    def visit(self) -> None:
        """Pay for one value."""
        self.work.step(_VISIT)


Expression: TypeAlias = Callable[[Place], Json]
"""Raises StepFailed."""

Step: TypeAlias = Callable[[Place, Json], Iterator[Json]]
"""Yields the results of a value. Raises StepFailed."""


def child(key: Expression) -> Step:
    """`.key` or `[key]`."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        yield _selected(value, key(place.at(value)), place)

    return step


def union(keys: list[Expression]) -> Step:
    """`[a, b]`: the members that exist."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        for key in keys:
            place.visit()
            try:
                found = _selected(value, key(place.at(value)), place)
            except StepFailed:
                continue
            yield found

    return step


def wildcard(place: Place, value: Json) -> Iterator[Json]:
    """`*`: all members or items."""
    for child in _children(value):
        place.visit()
        yield child


def descendants(place: Place, value: Json) -> Iterator[Json]:
    """`..`: the value itself, and everything below it."""
    levels = [iter([value])]
    while levels:
        for found in levels[-1]:
            place.visit()
            yield found
            levels.append(_children(found))
            break
        else:
            levels.pop()


def filtered(condition: Expression) -> Step:
    """`[? condition]`; an element for which the condition fails with an error does not match."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        for child in _children(value):
            place.visit()
            try:
                holds = as_bool(condition(place.at(child)))
            except StepFailed:
                continue
            if holds:
                yield child

    return step


def slice_of(low: Expression, high: Expression, stride: Expression) -> Step:
    """`[low:high:stride]`; negative positions count from the end."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        if not is_list(value):
            return
        here = place.at(value)
        begin, end, by = as_index(low(here)), as_index(high(here)), as_index(stride(here)) or 1
        if begin > end:
            return
        begin, end = (_within(position, len(value)) for position in (begin, end))
        chosen = range(begin, end, by) if by > 0 else range(end - 1, begin - 1, by)
        for position in chosen:
            place.visit()
            yield value[position]

    return step


def script(expression: Expression) -> Step:
    """`(expression)`: a computed key."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        place.visit()
        yield expression(place.at(value))

    return step


def as_index(value: Json) -> int:
    """A number as a position. Raises StepFailed."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StepFailed("a position in a list is a number")
    try:
        return int(value)
    except (OverflowError, ValueError):
        raise StepFailed("a position in a list is a number") from None


def as_bool(value: Json) -> bool:
    """Whether a value counts as true. Raises StepFailed for other values."""
    match value:
        case bool():
            return value
        case None | "false" | "FALSE":
            return False
        case "true" | "TRUE":
            return True
        case int() | float():
            return value != 0
        case _:
            raise StepFailed("neither true nor false")


def equal(one: Json, other: Json, work: Work) -> bool:
    """Equality in which a boolean is no number."""
    work.step(_VISIT)
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(
            equal(mine, theirs, work) for mine, theirs in zip(one, other, strict=True)
        )
    if is_object(one) and is_object(other):
        work.step(len(one))
        return one.keys() == other.keys() and all(equal(one[key], other[key], work) for key in one)
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _selected(value: Json, key: Json, place: Place) -> Json:
    place.visit()
    if is_list(value):
        position = as_index(key)
        if not 0 <= position < len(value):
            raise StepFailed("a position is outside of its list")
        return value[position]
    if is_object(value):
        name = key if isinstance(key, str) else gojson.marshal(key, place.work)
        if name not in value:
            raise StepFailed("unknown key")
        return value[name]
    raise StepFailed("only objects and lists have parts")


def _children(value: Json) -> Iterator[Json]:
    if is_list(value):
        yield from value
    elif is_object(value):
        yield from value.values()


def _within(position: int, length: int) -> int:
    return max(0, length + position) if position < 0 else min(position, length)
