"""Field paths: `spec.data[0].remoteRef.key`, built cheaply while walking and written out only for a problem.

A key that is not a plain name is written in brackets and quotes: `data["tls.crt"]`.
"""

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

Path: TypeAlias = "tuple[Path, str | int] | None"
"""The way to a value, innermost step first; None is the document itself."""

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_STEP: Final = re.compile(r'\.?([A-Za-z0-9_$-]+)|\[([0-9]+)\]|\["((?:[^"\\]|\\.)*)"\]')
_LONGEST: Final = 100


def render(path: Path) -> str:
    """The path as text."""
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return write(reversed(steps))


def write(steps: Iterable[str | int]) -> str:
    """The path of some steps, outermost first, as text."""
    return "".join(map(_written, steps)).removeprefix(".")


def parse(text: str) -> list[str | int]:
    """The steps of a written path, outermost first, up to the first thing that is not a step."""
    steps: list[str | int] = []
    place = 0
    while (found := _STEP.match(text, place)) is not None:
        name, index, quoted = found.groups()
        if index is not None:
            steps.append(int(index))
        elif quoted is not None:
            steps.append(re.sub(r"\\(.)", r"\1", quoted))
        else:
            steps.append(name)
        place = found.end()
    return steps


def join(parent: str, child: str) -> str:
    """The path of `child`, which is relative to `parent`."""
    return f"{parent}{child}" if not parent or not child or child[0] == "[" else f"{parent}.{child}"


def _written(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN.fullmatch(step):
        return f".{step}"
    shown = step if len(step) <= _LONGEST else f"{step[:_LONGEST]}..."
    return '["' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"]'
