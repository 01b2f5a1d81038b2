"""Checks and evaluates expressions apart, in a worker process, those of many resources in one call."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Final, TypeVar

import msgspec

from syncret.daemon.core.exports.cel import calls
from syncret.daemon.core.exports.cel.messages import Checked, Evaluation, Result, Text
from syncret.daemon.core.exports.problems import Failure
from syncret.providers.errors import Malformed, OverBudget, Unavailable
from syncret.providers.work import Work

A = TypeVar("A")

_DOING: Final = "an expression"
_ENGINE: Final = "cel_expr_python"


@cache
def has_engine() -> bool:
    """Whether the engine of CEL is installed; it is not loaded."""
    return find_spec(_ENGINE) is not None


def no_engine() -> Malformed:
    """The error if the engine is not installed: everything but exports works."""
    return Malformed(
        "the engine for the expressions of exports, cel-expr-python, is not installed",
        hint="install syncret with its extra: syncret[exports]; there are wheels for Linux with glibc",
    )


def check_all(texts: Sequence[Sequence[Text]], work: Work) -> list[list[Checked] | Failure]:
    """Check the expressions of each resource; a failure where one alone costs too much.

    Raises Malformed without the engine.
    """
    if not has_engine():
        raise no_engine()
    return [
        each if isinstance(each, Failure) else msgspec.convert(each, list[Checked])
        for each in _apart(calls.check, texts, work)
    ]


def evaluate_all(evaluations: Sequence[Evaluation], work: Work) -> list[list[Result] | Failure]:
    """The results of each resource's expressions; a failure where one alone costs too much."""
    return [
        each if isinstance(each, Failure) else msgspec.convert(each, list[Result])
        for each in _apart(calls.evaluate, evaluations, work)
    ]


def _apart(
    function: Callable[[Sequence[A]], list[list[Checked]] | list[list[Result]]],
    asked: Sequence[A],
    work: Work,
) -> list[list[Checked] | list[Result] | Failure]:
    """The answers; if the expressions of one resource end the process, the others still get theirs."""
    if len(asked) > 1:
        try:
            return [*work.apart(_DOING, function, asked)]
        except OverBudget:
            if work.spent:
                raise
    return [_alone(function, each, work) for each in asked]


def _alone(
    function: Callable[[Sequence[A]], list[list[Checked]] | list[list[Result]]], asked: A, work: Work
) -> list[Checked] | list[Result] | Failure:
    """The answer for one resource alone, so that a timeout is its own, and not due to starting a process."""
    try:
        work.apart(_DOING, calls.check, ())
    except OverBudget as error:
        if work.spent:
            raise
        raise Unavailable(f"a worker process did not start in time: {error}") from None
    try:
        return work.apart(_DOING, function, [asked])[0]
    except OverBudget as error:
        if work.spent:
            raise
        return Failure("limit", str(error), error.hint)
