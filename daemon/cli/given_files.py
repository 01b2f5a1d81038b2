"""Reads the single documents that commands for authors are given: values by their names, or any document."""

import base64
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.manifests.loader import read_bounded, unreadable
from syncret.config.meta import Document, is_object
from syncret.config.text.yaml import LIMITS, ParsedDocument, parse_text
from syncret.daemon.cli.printing import print_problem
from syncret.daemon.core.templating.golang.values import text_of

_STDIN: Final = "-"
_FIELDS: Final = {"Secret": (("data", True), ("stringData", False)),
                  "ConfigMap": (("binaryData", True), ("data", False))}  # fmt: skip
"""The fields of a manifest that hold values, and whether these are in base64. The last one wins."""


def bad_file(file: str, message: str, hint: str) -> ConfigError:
    """The error about a file that cannot be used."""
    return ConfigError([Problem(path=file, message=message, hint=hint)])


def read_file(file: str) -> bytes:
    """The content of a file, or of standard input (`-`). Raises ConfigError."""
    limit = LIMITS.file + 1
    try:
        return sys.stdin.buffer.read(limit) if file == _STDIN else read_bounded(file, limit)
    except (OSError, ValueError) as error:
        problem = unreadable(error)
        raise bad_file(file, problem.message, problem.hint) from error


def read_document(file: str) -> ParsedDocument | None:
    """The one document of a file; None if it is empty. Raises ConfigError."""
    documents = list(parse_text(read_file(file), as_json=file.endswith(".json")))
    problems = [problem for each in documents for problem in each.problems]
    if problems:
        raise ConfigError(
            Problem(path=f"{file}:{each.line}", message=each.message, hint=each.hint) for each in problems
        )
    if len(documents) > 1:
        raise bad_file(file, "must hold one document", "give each document a file of its own")
    return documents[0] if documents else None


def read_value(file: str) -> Json:
    """The value of the one document of a file, which may be empty. Raises ConfigError."""
    parsed = read_document(file)
    return None if parsed is None else parsed.value


def values_of_manifest(file: str, value: Json) -> dict[str, str] | None:
    """The values of a Secret or ConfigMap; None for any other document. Raises ConfigError."""
    if not is_object(value) or value.get("apiVersion") != "v1":
        return None
    kind: Json = value.get("kind")
    return dict(_values(file, value, kind)) if isinstance(kind, str) and kind in _FIELDS else None


def _values(file: str, manifest: Document, kind: str) -> Iterator[tuple[str, str]]:
    for field, encoded in _FIELDS[kind]:
        values: Json = manifest.get(field)
        for name, value in _entries(file, field, values).items():
            try:
                text = text_of(base64.b64decode(value, validate=True)) if encoded else value
            except ValueError as error:
                raise bad_file(
                    file, f"{field}.{name} is no base64", "encode it, or use stringData"
                ) from error
            yield name, text


def _entries(file: str, field: str, values: Json) -> Mapping[str, str]:
    if values is None:
        return {}
    if not is_object(values) or not all(isinstance(value, str) for value in values.values()):
        raise bad_file(file, f"{field} must map names to strings", "quote numbers and booleans")
    return values


def print_file_problems(error: ConfigError) -> None:
    """A line on stderr for each problem, with the file in the place of a path."""
    for problem in error.problems:
        shown = Problem(path="", message=problem.message, hint=problem.hint)
        print_problem(sys.stderr, problem.path, shown)
