"""What the parts of a JSONPath do to a value: expressions yield one, steps yield any number."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson

VISITS: Final = 1_000_000
"""Values that one evaluation may look at: `..` within `..` multiplies."""


class StepFailed(Exception):
    """A step cannot be taken here. The message names no key of the document."""


@dataclass(slots=True)
class Place:
    """Where an expression is evaluated: `$`, `@`, and how much work is left."""

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
"""Raises Impossible."""

Step: TypeAlias = Callable[[Place, Json], Iterator[Json]]
"""Yields what a value leads to. Raises Impossible."""


def child(key: Expression) -> Step:
    """Takes `.key`, `[key]`."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        yield _selected(value, key(place.at(value)))

    return step


def union(keys: list[Expression]) -> Step:
    """Takes `[a, b]`: those that are there."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        for key in keys:
            try:
                found = _selected(value, key(place.at(value)))
            except StepFailed:
                continue
            yield found

    return step


def wildcard(place: Place, value: Json) -> Iterator[Json]:
    """Takes `*`."""
    for child in _children(value):
        place.spend()
        yield child


def descendants(place: Place, value: Json) -> Iterator[Json]:
    """Takes `..`: the value itself, and all below it."""
    place.spend()
    yield value
    for child in _children(value):
        yield from descendants(place, child)


def filtered(condition: Expression) -> Step:
    """Takes `[? condition]`; an element for which it cannot be told does not match."""

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
    """Takes `[low:high:stride]`; negative positions count from the end."""

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
    """Takes `(expression)`."""

    def step(place: Place, value: Json) -> Iterator[Json]:
        yield expression(place.at(value))

    return step


def as_index(value: Json) -> int:
    """A number as a position. Raises Impossible."""
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
    """Whether a value counts as true. Raises Impossible for what is neither."""
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
