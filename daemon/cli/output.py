"""How commands print: documents on stdout, problems on stderr as `file:line: path: message (hint)`."""

import sys
from pathlib import Path

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.visible import visible
from syncret.config.yaml import LIMITS


def read_bounded(file: str) -> bytes:
    """What a file holds, and of one that never ends a byte more than is allowed. Raises OSError."""
    with Path(file).open("rb") as stream:
        return stream.read(LIMITS.file + 1)


def print_json(document: Document, *, indent: int = 0) -> None:
    """One JSON document on one line, or (with `indent`) on several."""
    encoded = msgspec.json.encode(document)
    sys.stdout.write((msgspec.json.format(encoded, indent=indent) if indent else encoded).decode() + "\n")


def print_yaml(document: Document) -> None:
    """One YAML document."""
    from syncret.config.yamltext import to_yaml  # only this format pays for it

    sys.stdout.write("---\n" + to_yaml(document))


def describe_problem(file: str, problem: Problem) -> str:
    """`file:line: error: path: message (hint)`."""
    place = f"{file}:{problem.line}" if problem.line else file
    return visible(f"{place}: {problem.severity}: {problem}")


def report_problem(file: str, problem: Problem) -> None:
    """One problem on stderr."""
    sys.stderr.write(describe_problem(file, problem) + "\n")
