"""Prints documents on stdout, and problems on stderr as `file:line: path: message (hint)`."""

import sys

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.visible import printable


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
    place = f"{file}:{problem.line}" if problem.line else file
    return printable(f"{place}: {problem.severity}: {problem}")


def report_problem(file: str, problem: Problem) -> None:
    """One problem on stderr."""
    sys.stderr.write(describe_problem(file, problem) + "\n")
