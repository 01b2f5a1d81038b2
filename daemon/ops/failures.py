"""Failures: manifests that have no effect, and objects that fail."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeProblem, RefusalReason
from syncret.daemon.ops.view import View


class InvalidManifest(NamedTuple):
    """A document, or a whole file, that has no effect. What it said last, if anything, stays in force."""

    file: str
    document: int
    """The line at which it begins; 0: the whole file."""
    ref: ObjectRef | None
    """The object, if the document names one."""
    reason: RefusalReason
    problem: Problem
    """The first of its problems."""

    @property
    def place(self) -> str:
        """File and line of the problem."""
        line = self.problem.line or self.document
        return f"{self.file}:{line}" if line else self.file

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


def invalid_manifests(problems: Iterable[HomeProblem]) -> list[InvalidManifest]:
    """One for each document or file that has no effect, in the order of their problems."""
    found: dict[tuple[str, int], InvalidManifest] = {}
    for each in problems:
        if each.reason is not None:
            invalid = InvalidManifest(each.source, each.document, each.ref, each.reason, each.problem)
            found.setdefault((each.source, each.document), invalid)
    return list(found.values())


def invalid_objects(problems: Iterable[HomeProblem]) -> Mapping[ObjectRef, InvalidManifest]:
    """The invalid manifests that name an object, by its ref."""
    return {each.ref: each for each in reversed(invalid_manifests(problems)) if each.ref is not None}


def count_failing(view: View) -> int:
    """How many objects fail, for whatever reason, and manifests that name none."""
    refs = view.running.engine.failing | view.running.context.memory.failing
    invalid = invalid_manifests(view.problems)
    named = {each.ref for each in invalid if each.ref is not None}
    return len(refs | named) + sum(each.ref is None for each in invalid)
