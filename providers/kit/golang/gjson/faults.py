"""Finds the fault of a gjson path that can never match: gjson itself reports none."""

import re
from typing import Final, NamedTuple

from syncret.config.spelling import by_similarity
from syncret.providers.kit.golang.gjson import modifiers, paths
from syncret.providers.work import Work

_JSONPATH: Final = re.compile(r"\$[.\[]")
_SUBSCRIPT: Final = re.compile(r"[\w-]\[(?:\d+|\*|'[^']*'|\"[^\"]*\")\]")


class Fault(NamedTuple):
    """What is wrong, and what to write instead."""

    message: str
    hint: str


def fault(path: str) -> Fault | None:
    """The first fault of a path; None if it may find something."""
    if _JSONPATH.match(path) or _SUBSCRIPT.search(path):
        return Fault(
            "the property is a JSONPath, and what is expected is a gjson path",
            "write names and numbers with dots between them: list.0.name, list.#.name for all",
        )
    try:
        return _of_component(path, Work())
    except RecursionError:
        return Fault("the property is nested too deeply", "write a shorter path")


def _of_component(path: str, work: Work) -> Fault | None:
    """The fault of the first component, or of what follows it."""
    if path[:1] in {"[", "{"}:
        chosen, rest = paths.selectors(path)
        if chosen is None:
            close = "]" if path[0] == "[" else "}"
            return Fault(f"the property has a {path[0]} that is not closed", f"close it with {close}")
        return _of_component(rest[1:], work) if rest else None
    if path.startswith("@"):
        name = re.split(r"[.|:]", path[1:], maxsplit=1)[0]
        near, _ = by_similarity(name, sorted(modifiers.NAMES)) if name not in modifiers.NAMES else ([], [])
        return Fault(f"there is no modifier @{name}", f"did you mean @{near[0]}?") if near else None
    if path[:2] in {"#(", "#["} and paths.parse_query(path, work)[1] == 0:
        return Fault(
            "the property has a query that is not closed", 'write #(name=="x"), or #(name=="x")# for all'
        )
    component = paths.array_component(path, modifiers.NAMES, work)
    rest = component.pipe if component.pipe is not None else component.rest
    return _of_component(rest, work) if rest else None
