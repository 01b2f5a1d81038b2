"""Rules between a document and the version that it replaces, as an API server checks those with `oldSelf`.

Such a rule counts for an object that is there before and after: one in a list with keys is found again by
them, one in any other list or map is not.
"""

from collections.abc import Iterator

from syncret.config.errors import RuleViolation
from syncret.config.fields import Json
from syncret.config.paths import Path, render
from syncret.config.schema.shape import Shape


def has_transitions(shape: Shape) -> bool:
    """Whether there is such a rule at or below a value."""
    below = (*(field.shape for field in shape.fields), *(() if shape.items is None else (shape.items,)))
    return bool(shape.transitions) or any(map(has_transitions, below))


def broken_transitions(
    shape: Shape, value: Json, previous: Json, path: Path = None
) -> Iterator[RuleViolation]:
    """The rules that a value breaks; both versions are valid otherwise."""
    if shape.list_keys and shape.items is not None:
        before = {_key(each, shape.list_keys): each for each in previous}
        for place, each in enumerate(value):
            old = before.get(_key(each, shape.list_keys))
            if old is not None:
                yield from broken_transitions(shape.items, each, old, (path, place))
    if shape.kind != "object" or shape.catalog:
        return
    for rule in shape.transitions:
        if not rule.holds(value, previous):
            blamed = (path, rule.field) if rule.field else path
            yield RuleViolation(path=render(blamed), message=rule.message)
    for field in shape.fields:
        if field.name in value and field.name in previous:
            yield from broken_transitions(
                field.shape, value[field.name], previous[field.name], (path, field.name)
            )


def _key(item: Json, names: tuple[str, ...]) -> tuple[Json, ...]:
    return tuple(item.get(name) for name in names)
