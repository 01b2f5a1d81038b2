"""Problems in manifests and settings, and the exception that carries them."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec


class Severity(StrEnum):
    """An error refuses the document; a warning lets it pass; a note asks for nothing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One mistake in one document: the field, what is wrong, and what to write instead.

    `path` is a field path such as `spec.data[0].remoteRef.key`; the loader fills in `line`.
    A message never quotes a secret value.
    """

    path: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    line: int = 0
    text_line: int = 0
    """The line within the text of the field, a template for example; 0: the field itself."""
    runtime: bool = False
    """A warning of something that is admitted, but fails when it is used."""
    upstream: bool = False
    """A warning that a cluster would give, and that needs no change: only in reports for programs."""

    @property
    def fatal(self) -> bool:
        return self.severity is Severity.ERROR

    def as_document(self) -> dict[str, Any]:
        """The problem as JSON reports show it, with all members."""
        return {
            "severity": str(self.severity),
            "path": self.path,
            "line": self.line,
            "message": self.message,
            "hint": self.hint,
            **({"runtime": True} if self.runtime else {}),
        }

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.message}" + (f" ({self.hint})" if self.hint else "")


class RuleViolation(Problem, frozen=True):
    """A value breaks a rule but has the right type, so that other rules can still be checked."""


class UnknownField(Problem, frozen=True):
    """A field that the schema does not have: dropped with a warning; strict callers make it an error."""


class ConfigError(Exception):
    """Problems that the author of a manifest or of the settings has to fix."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))
