"""Writes to a place inside an object, such as `spec.rules[0].to`, and creates what is missing on the way."""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.providers.errors import Malformed

LARGEST_INDEX: Final = 10_000
"""A path must not be able to create a list of any length."""

MOST_STEPS: Final = 100

Step: TypeAlias = str | int
_SEGMENT: Final = re.compile(r"([^\[]*)((?:\[[^\]]*\])*)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}")


def parse_path(path: str) -> list[Step]:
    """Keys and indexes of a path. Raises Malformed."""
    steps: list[Step] = []
    for segment in path.split("."):
        found = _SEGMENT.fullmatch(segment)
        if found is None:
            raise Malformed(f'invalid path "{path}": brackets do not match', hint="write spec.list[0].field")
        name, brackets = found.groups()
        if not segment:
            raise Malformed(f'invalid path "{path}": empty segment', hint="write spec.list[0].field")
        if name:
            steps.append(name)
        steps += [_index(path, text) for text in re.findall(r"\[([^\]]*)\]", brackets)]
    if not isinstance(steps[0], str):
        raise Malformed(f'invalid path "{path}": path must start with a key', hint="write spec.list[0].field")
    if len(steps) > MOST_STEPS:
        raise Malformed(f"invalid path: it has {len(steps)} steps, and may have {MOST_STEPS}")
    return steps


def put(target: Document, path: str, make: Callable[[Json], Json]) -> None:
    """Replace the value at a path by what `make` returns for it (None if missing). Raises Malformed."""
    steps = parse_path(path)
    _put(target, path, steps, make)


def _put(node: Json, path: str, steps: Sequence[Step], make: Callable[[Json], Json]) -> Json:
    """The node, created if it is missing, with the change made below it."""
    step = steps[0]
    if isinstance(step, int):
        if node is not None and not is_list(node):
            raise Malformed(
                f"failed to set path {path}: index {step} needs a list, and there is something else"
            )
        items: list[Json] = [] if node is None else node
        items.extend([None] * (step + 1 - len(items)))
        items[step] = make(items[step]) if len(steps) == 1 else _put(items[step], path, steps[1:], make)
        return items
    if node is not None and not is_object(node):
        raise Malformed(
            f'failed to set path {path}: key "{step}" needs an object, and there is something else'
        )
    members: Document = {} if node is None else node
    present = members.get(step)
    members[step] = make(present) if len(steps) == 1 else _put(present, path, steps[1:], make)
    return members


def _index(path: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise Malformed(f'invalid path "{path}": bad index "{text}"', hint="write a number")
    index = int(text)
    if index < 0:
        raise Malformed(f'invalid path "{path}": negative index {index}', hint="count from 0")
    if index > LARGEST_INDEX:
        raise Malformed(f'invalid path "{path}": index {index} exceeds maximum ({LARGEST_INDEX})')
    return index
