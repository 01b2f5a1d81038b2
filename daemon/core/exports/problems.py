"""Problems of exports: their place, stage and class."""

from typing import Final, Literal, TypeAlias

import msgspec

from syncret.config.errors import Severity
from syncret.config.meta import Document

Stage: TypeAlias = Literal["check", "run"]
"""`check`: refused without the resource's values, and before any secret API is called."""

ProblemClass: TypeAlias = Literal[
    "arithmetic",
    "bad_format",
    "bad_key",
    "bad_label",
    "bad_regex",
    "collision",
    "conversion",
    "duplicate_key",
    "empty_output",
    "function_error",
    "index",
    "invalid_entry",
    "limit",
    "missing_destination_key",
    "missing_key",
    "no_overload",
    "optional_none",
    "output_type",
    "parse",
    "undeclared",
    "unexpected_destination_key",
]

MOST_BYTES: Final = 1024 * 1024
"""The largest data of one Secret or ConfigMap for an API server."""


class Failure(msgspec.Struct, frozen=True, array_like=True):
    """Why an expression has no result. The message never contains a value, of the resource or of a secret."""

    kind: ProblemClass
    message: str
    hint: str = ""


class ExportProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake in the exports of a resource; `path` begins with `operatorSpec`."""

    stage: Stage
    kind: ProblemClass
    path: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR

    def as_document(self) -> Document:
        """The problem as reports show it."""
        return {
            "severity": str(self.severity),
            "stage": self.stage,
            "class": self.kind,
            "path": self.path,
            "message": self.message,
            "hint": self.hint,
        }


def refused(path: str, failure: Failure) -> ExportProblem:
    """A failure that is known before anything is read."""
    return _problem("check", path, failure)


def failed(path: str, failure: Failure) -> ExportProblem:
    """A failure of an evaluation, or of its result."""
    return _problem("run", path, failure)


def _problem(stage: Stage, path: str, failure: Failure) -> ExportProblem:
    return ExportProblem(
        stage=stage, kind=failure.kind, path=path, message=failure.message, hint=failure.hint
    )
