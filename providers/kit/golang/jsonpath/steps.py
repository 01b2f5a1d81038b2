"""The parts of a JSONPath as functions: an expression returns one value, a step yields any number."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson

VISITS: Final = 1_000_000
"""Values that one evaluation may visit: nested `..` multiply."""


class StepFailed(Exception):
    """A step cannot be applied to a value. The message names no key of the document."""


@dataclass(slots=True)
class Place:
    """The context of an evaluation: `$`, `@`, and the remaining work."""

    root: Json
    current: Json = None
    budget: list[int] = field(default_factory=lambda: [VISITS])

    def at(self, current: Json) -> "Place":
        """The same, with another `@`."""
        return Place(self.root, current, self.budget)

    def spend(self) -> None:
        self.budget[0] -= 1
        if self.budget[0] < 0:
            raise Malformed("the JSONPath asks for too much work", hint="write a path that is more exact")


Expression: TypeAlias = Callable[[Place], Json]
"""Raises StepFailed."""

Step: TypeAlias = Callable[[Place, Json], Iterator[Json]]
"""Yields the results of a value. Raises StepFailed."""


def child(key: Expression) -> Step:
    """`.key` or `[key]`."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        yield _selected(value, key(place.at(value)))

    return step


def union(keys: list[Expression]) -> Step:
    """`[a, b]`: the members that exist."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        for key in keys:
            try:
                found = _selected(value, key(place.at(value)))
            except StepFailed:
                continue
            yield found

    return step


def wildcard(place: Place, value: Json) -> Iterator[Json]:
    """`*`: all members or items."""
    for child in _children(value):
        place.spend()
        yield child


def descendants(place: Place, value: Json) -> Iterator[Json]:
    """`..`: the value itself, and everything below it."""
    place.spend()
    yield value
    for child in _children(value):
        yield from descendants(place, child)


def filtered(condition: Expression) -> Step:
    """`[? condition]`; an element for which the condition fails with an error does not match."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        for child in _children(value):
            place.spend()
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
            yield value[position]

    return step


def script(expression: Expression) -> Step:
    """`(expression)`: a computed key."""

    def step(place: Place, value: Json) -> Iterator[Json]:
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


def equal(one: Json, other: Json) -> bool:
    """Equality in which a boolean is no number."""
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(equal, one, other))
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _selected(value: Json, key: Json) -> Json:
    if is_list(value):
        position = as_index(key)
        if not 0 <= position < len(value):
            raise StepFailed("a position is outside of its list")
        return value[position]
    if is_object(value):
        name = key if isinstance(key, str) else gojson.marshal(key)
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
