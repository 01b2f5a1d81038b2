"""Prints documents on stdout, and problems as `file:line: error: path: message (hint)`."""

import sys
from collections.abc import Iterable
from typing import Final, TextIO

import msgspec

from syncret.config.errors import Problem, Severity
from syncret.config.meta import Document
from syncret.config.visible import printable, printable_json
from syncret.daemon.cli.terminal import Style, paint, print_text

_STYLES: Final = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.DOUBT, Severity.NOTE: Style.PLAIN}
_PLACES: Final = 3
"""So many of the places of equal warnings are shown."""


def print_json(document: Document, *, indent: int = 0) -> None:
    """One JSON document on one line, or (with `indent`) on several."""
    encoded = msgspec.json.encode(document)
    text = (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()
    sys.stdout.write(printable_json(text) + "\n")


def print_yaml(document: Document) -> None:
    """One YAML document."""
    from syncret.config.text.yaml import to_yaml  # imported only for this format

    sys.stdout.write("---\n" + to_yaml(document))


def print_problems(stream: TextIO, found: Iterable[tuple[str, Problem]]) -> None:
    """A line for each problem; equal warnings and notes are one line, with their number and first places."""
    places: dict[object, list[str]] = {}
    first: list[tuple[object, str, Problem]] = []
    for file, problem in found:
        alike = (problem.severity, problem.path, problem.message, problem.hint)
        key = object() if problem.fatal else alike
        if key not in places:
            first.append((key, file, problem))
        places.setdefault(key, []).append(_place(file, problem))
    for key, file, problem in first:
        count = len(places[key])
        more = f"{', '.join(places[key][:_PLACES])}{', ...' if count > _PLACES else ''}"
        print_problem(stream, file, problem, f"; {count} times: {more}" if count > 1 else "")


def print_problem(stream: TextIO, file: str, problem: Problem, more: str = "") -> None:
    """One problem: `file:line: error: path: message (hint)`."""
    severity = paint(stream, problem.severity, _STYLES[problem.severity])
    print_text(stream, f"{printable(_place(file, problem))}: {severity}: {printable(f'{problem}{more}')}")


def warn_of_made_elsewhere(generators: Iterable[str], hint: str) -> None:
    """Say on stderr that this pass was the last that saw to what these generators made."""
    message = "nothing renews what it made once this pass is over"
    problem = Problem(path="", message=message, hint=hint, severity=Severity.WARNING)
    print_problems(sys.stderr, ((each, problem) for each in generators))


def _place(file: str, problem: Problem) -> str:
    return f"{file}:{problem.line}" if problem.line else file
