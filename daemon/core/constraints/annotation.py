"""The constraints in the annotation of an ExternalSecret, and the verdict on its fetched values.

An annotation that cannot be read counts as violated: a mistake in it must not let every value through.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.daemon.core.constraints.rules import Constraints, read_constraints
from syncret.daemon.core.constraints.verdict import (
    ANNOTATION,
    NOT_FETCHED,
    SATISFIED,
    VIOLATED,
    Verdict,
    violation,
)
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_POLICIES: Final = ("block", "warn")


class Annotation(NamedTuple):
    """The content of the annotation: the constraints of each key, and whether a violation blocks."""

    keys: Mapping[str, Constraints]
    blocks: bool


class MistakeError(Exception):
    """A mistake in the annotation; the message quotes only names of the schema."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def verdict_on(annotation: str, values: Mapping[str, bytes], work: Work) -> Verdict:
    """The verdict on the values that were fetched. Raises OverBudget.

    A key that the store lacks is missing, not violated.
    """
    try:
        said = read_annotation(annotation, work)
    except MistakeError as mistake:
        return Verdict(VIOLATED, f"the annotation {ANNOTATION} cannot be used: {mistake}", is_blocked=True)
    violated = {
        key: name
        for key, constraints in sorted(said.keys.items())
        if key in values and (name := constraints.violated(SecretBytes(values[key]), work)) is not None
    }
    if violated:
        return Verdict(VIOLATED, violation(violated), is_blocked=said.blocks)
    missing = sorted(key for key in said.keys if key not in values)
    if missing:
        return Verdict(NOT_FETCHED, f"not among the fetched keys: {', '.join(missing)}")
    return Verdict(SATISFIED, "all constraints hold")


def read_annotation(annotation: str, work: Work) -> Annotation:
    """Read the annotation. Raises MistakeError, and OverBudget."""
    work.make(len(annotation))
    try:
        written: Json = msgspec.json.decode(annotation)
    except (ValueError, RecursionError):  # the message would quote the text
        raise MistakeError("it is not JSON") from None
    if not is_object(written) or not is_object(written.get("keys")):
        raise MistakeError('it must be {"keys": {KEY: [CONSTRAINTS]}, "policy": "block"}')
    unknown = [name for name in written if name not in {"keys", "policy"}]
    if unknown:
        raise MistakeError("it has members other than keys and policy")
    policy: Json = written.get("policy", "block")
    if policy not in _POLICIES:
        raise MistakeError(f"policy must be {' or '.join(_POLICIES)}")
    return Annotation(
        {key: _constraints(key, said, work) for key, said in written["keys"].items()}, policy == "block"
    )


def _constraints(key: str, written: Json, work: Work) -> Constraints:
    if not is_list(written) and not is_object(written):
        raise MistakeError(f"the constraints of {key} must be a list of mappings")
    constraints, problems = read_constraints(written, {}, work)
    if problems:
        raise MistakeError(f"{key}: {problems[0].message}", problems[0].hint)
    return constraints
