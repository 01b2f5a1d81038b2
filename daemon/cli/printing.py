"""Prints documents on stdout, and problems on stderr as `file:line: path: message (hint)`."""

import sys
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.visible import printable

_PLACES: Final = 3
"""So many of the places of equal warnings are shown."""


def print_json(document: Document, *, indent: int = 0) -> None:
    """One JSON document on one line, or (with `indent`) on several."""
    encoded = msgspec.json.encode(document)
    sys.stdout.write((msgspec.json.format(encoded, indent=indent) if indent else encoded).decode() + "\n")


def print_yaml(document: Document) -> None:
    """One YAML document."""
    from syncret.config.text.yaml import to_yaml  # imported only for this format

    sys.stdout.write("---\n" + to_yaml(document))


def describe_problem(file: str, problem: Problem) -> str:
    """`file:line: error: path: message (hint)`."""
    return printable(f"{_place(file, problem)}: {problem.severity}: {problem}")


def _place(file: str, problem: Problem) -> str:
    return f"{file}:{problem.line}" if problem.line else file


def describe_problems(found: Iterable[tuple[str, Problem]]) -> Iterator[str]:
    """A line for each problem; equal warnings and notes are one line, with their number and first places."""
    places: dict[object, list[str]] = {}
    lines: list[tuple[object, str]] = []
    for file, problem in found:
        alike = (problem.severity, problem.path, problem.message, problem.hint)
        key = object() if problem.fatal else alike
        if key not in places:
            lines.append((key, describe_problem(file, problem)))
        places.setdefault(key, []).append(_place(file, problem))
    for key, line in lines:
        count = len(places[key])
        more = f"{', '.join(places[key][:_PLACES])}{', ...' if count > _PLACES else ''}"
        yield f"{line}; {count} times: {printable(more)}" if count > 1 else line


def report_problems(found: Iterable[tuple[str, Problem]]) -> None:
    """Several problems on stderr."""
    sys.stderr.writelines(f"{line}\n" for line in describe_problems(found))


def report_problem(file: str, problem: Problem) -> None:
    """One problem on stderr."""
    sys.stderr.write(describe_problem(file, problem) + "\n")
