"""Checks a resource's exports before anything is read: types, doubled keys, and which secrets they need."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from syncret.daemon.core.exports.cel.messages import Checked
from syncret.daemon.core.exports.problems import ExportProblem, Failure, refused
from syncret.daemon.core.exports.spec import Entry, Exports, Expression, Output

ALL: Final = "*"
"""The hint for all names that a secret API has."""

_TEXT: Final = frozenset({"STRING", "DYN"})
_MAP: Final = re.compile(r"MAP<(?:STRING|DYN), (?:STRING|DYN)>")
_STRING_HINT: Final = "convert it with string()"


class Plan(NamedTuple):
    """The secrets to read and the problems, known without any value."""

    hints: Sequence[str]
    """The names of secrets to ask for, in order; `*` alone: all; none where anything is refused."""
    problems: Sequence[ExportProblem]


def plan(exports: Exports, checked: Sequence[Checked] | Failure, *, with_static: bool = True) -> Plan:
    """The verdict on exports whose expressions have been checked.

    `with_static`: entries without an expression are to be written, too, and need their secrets.
    """
    if isinstance(checked, Failure):
        return Plan((), [*exports.problems, refused("operatorSpec", checked)])
    problems = [*exports.problems, *_refused_expressions(exports, checked), *_collisions(exports)]
    if problems:
        return Plan((), problems)
    names = {hint for each in checked for hint in each.hints}
    if with_static:
        names |= {entry.name for entry in exports.static if entry.output.kind == "Secret"}
    return Plan((ALL,) if ALL in names else sorted(names), ())


def _refused_expressions(exports: Exports, checked: Sequence[Checked]) -> Iterator[ExportProblem]:
    for expression, each in zip(exports.expressions, checked, strict=True):
        failure = each.failure or _wrong_type(expression, each.type)
        if failure is not None:
            yield refused(expression.path, failure)


def _wrong_type(expression: Expression, kind: str) -> Failure | None:
    """Why an expression of this type cannot give what is wanted; results are checked once more."""
    is_map, wanted = _MAP.fullmatch(kind) is not None, expression.wanted
    if kind == "DYN" or (is_map and wanted != "text") or (kind in _TEXT and wanted == "text"):
        return None
    if wanted == "either" and kind in _TEXT:
        return no_key()
    if wanted == "text" and is_map and expression.is_shipped:
        message = f"gives {kind}, a map, which makes its own keys, and a key is given"
        return Failure("unexpected_destination_key", message, "remove the key")
    what = "a string" if wanted == "text" else "a map of strings to strings"
    return Failure("output_type", f"gives {kind}, and must give {what}", _STRING_HINT)


def no_key() -> Failure:
    """The failure of an expression that gives one text for which no key is known."""
    return Failure("missing_destination_key", "gives a string, and the entry has no key", "add the key")


def _collisions(exports: Exports) -> Iterator[ExportProblem]:
    """Keys, annotations and labels that two entries of one object set, whatever their values are."""
    seen: dict[tuple[Output, str, str], str] = {}
    for place, path, what in _destinations(exports):
        output, field, name = place
        first = seen.setdefault(place, path)
        if first is not path:
            message = f"{field} {name} of the {output.kind} {output.name} is also set by {first}"
            yield refused(
                path, Failure("collision", message, f"write another {what}, or remove one of the two")
            )


def _destinations(exports: Exports) -> Iterator[tuple[tuple[Output, str, str], str, str]]:
    for static in exports.static:
        yield (static.output, "the key", static.key), static.path, "key"
    for entry in exports.entries:
        if entry.key is not None:
            yield (entry.output, "the key", entry.key), f"{entry.path}.key", "key"
        yield from _mark_destinations(entry)


def _mark_destinations(entry: Entry) -> Iterator[tuple[tuple[Output, str, str], str, str]]:
    for what, marks in (("annotation", entry.annotations), ("label", entry.labels)):
        for name, expression in marks.items():
            yield (entry.output, f"the {what}", name), expression.path, what
