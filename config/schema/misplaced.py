"""Finds the right place of an unknown field that is indented too little, or too much."""

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from syncret.config.errors import Problem, UnknownField
from syncret.config.paths import parse, write
from syncret.config.schema.shape import Shape

_NOT_SEARCHED: Final = frozenset({"name", "namespace", "kind"})
"""Fields that are too common to suggest a place."""


def with_place(problem: Problem, shape: Shape) -> Problem:
    """The problem of an unknown field, with the place that it belongs to if there is one."""
    if not isinstance(problem, UnknownField):
        return problem
    *above, name = parse(problem.path)
    if name in _NOT_SEARCHED or not isinstance(name, str):
        return problem
    owners = list(_objects(shape, above))
    below = _child_with(owners[-1][1], name) if len(owners) == len(above) + 1 else None
    if below is not None:
        return structs.replace(problem, hint=f"it belongs under {below}: indent it there")
    for path, owner in reversed(owners[:-1]):
        if any(field.name == name for field in owner.fields):
            return structs.replace(
                problem, hint=f"it belongs under {write(path) or 'no field'}: indent it less"
            )
    return problem


def _objects(shape: Shape, steps: list[str | int]) -> Iterator[tuple[list[str | int], Shape]]:
    """The values on the way, outermost first, as far as the schema describes them."""
    yield [], shape
    for count, step in enumerate(steps, 1):
        if isinstance(step, int) or not shape.fields:
            inner = shape.items
        else:
            inner = next((field.shape for field in shape.fields if field.name == step), None)
        if inner is None or inner.catalog:
            return
        shape = inner
        yield steps[:count], shape


def _child_with(owner: Shape, name: str) -> str | None:
    """The object or list directly below that has the field."""
    return next(
        (
            field.name
            for field in owner.fields
            if any(inner.name == name for inner in (field.shape.items or field.shape).fields)
        ),
        None,
    )
