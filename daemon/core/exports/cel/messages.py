"""Requests to a worker process and its answers: plain data in both directions."""

import msgspec

from syncret.daemon.core.exports.problems import Failure


class Text(msgspec.Struct, frozen=True, array_like=True):
    """One expression."""

    for_secret: bool
    """Whether it is one of a Secret, which alone may use secrets."""
    source: str


class Checked(msgspec.Struct, frozen=True, array_like=True):
    """The result of checking an expression, before it is evaluated."""

    type: str = ""
    """As the engine writes it: `STRING`, `DYN`, `MAP<STRING, STRING>`."""
    hints: tuple[str, ...] = ()
    """The names of secrets that it may use; `*`: any."""
    failure: Failure | None = None


class Evaluation(msgspec.Struct, frozen=True, array_like=True):
    """The expressions of one resource, and what they may use."""

    resource: bytes
    """As JSON."""
    secrets: dict[str, str]
    expressions: tuple[Text, ...]


class Result(msgspec.Struct, frozen=True, array_like=True):
    """The result of one expression."""

    value: str | dict[str, str] | None = None
    failure: Failure | None = None
