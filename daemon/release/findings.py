"""Places in the documents of a release, and the problems that were found there."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from syncret.config.errors import Problem, Severity
from syncret.config.meta import Document
from syncret.config.spelling import did_you_mean
from syncret.config.text.yaml_lines import Lines

_PLAIN: Final = re.compile(r"[A-Za-z0-9_$-]+")
_MEANT: Final = "did you mean {}?"
_MOST_SUGGESTIONS: Final = 100


class Given(msgspec.Struct, frozen=True, eq=False):
    """One document of a run, with its file and its lines.

    The paths of problems are those of the whole document; of a bare file of values, `stripped` is left out.
    """

    file: str
    document: Document
    lines: Lines | None = None
    stripped: str = ""


def below(path: str, step: str | int) -> str:
    """The path of a member or an item of the value at a path."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    if _PLAIN.fullmatch(step):
        return f"{path}.{step}" if path else step
    return f'{path}["' + step.replace("\\", "\\\\").replace('"', '\\"') + '"]'


class Place(NamedTuple):
    """A field of a document."""

    given: Given
    path: str

    def at(self, *steps: str | int) -> "Place":
        """The place below this one."""
        path = self.path
        for step in steps:
            path = below(path, step)
        return Place(self.given, path)


class Reported(NamedTuple):
    """A problem with its file; its line is filled in."""

    file: str
    problem: Problem


class Findings:
    """Collects the problems of a run. The messages contain no value."""

    def __init__(self) -> None:
        self._found: list[tuple[Given, Problem]] = []
        self._seen: set[tuple[str, str, str]] = set()
        self._suggestions = 0
        self.undelivered_only = True
        """Whether no document is at fault: only sources of tags did not deliver."""

    @property
    def has_errors(self) -> bool:
        return any(problem.fatal for _, problem in self._found)

    def error(self, place: Place, message: str, hint: str = "") -> None:
        """A mistake in a document: nothing is rendered."""
        self.undelivered_only = False
        self._add(place, Problem(path=place.path, message=message, hint=hint))

    def undelivered(self, place: Place, message: str, hint: str = "") -> None:
        """The source of a tag failed: nothing is rendered either, but the documents are in order."""
        self._add(place, Problem(path=place.path, message=message, hint=hint))

    def warn(self, place: Place, message: str, hint: str = "") -> None:
        """A problem that does not stop the rendering."""
        self._add(place, Problem(path=place.path, message=message, hint=hint, severity=Severity.WARNING))

    def unknown(
        self, place: Place, keys: Iterable[str], known: Collection[str], *, what: str = "member"
    ) -> set[str]:
        """Report keys that are not known; the result are the known names that they are nearest to.

        One defect is one problem: what one of these names lacks is not reported a second time.
        """
        nearest: set[str] = set()
        for key in keys:
            if key not in known:
                hint = self.suggested(key, known) or "remove it"
                self.error(place.at(key), f"there is no such {what}", hint)
                nearest.update(each for each in known if hint == _MEANT.format(each))
        return nearest

    def suggested(self, word: str, known: Collection[str]) -> str:
        """A hint with the nearest known word; none once there were many: comparing takes long."""
        self._suggestions += 1
        if self._suggestions > _MOST_SUGGESTIONS:
            return ""
        return did_you_mean(word, list(known))

    def _add(self, place: Place, problem: Problem) -> None:
        identity = (place.given.file, problem.path, problem.message)
        if identity not in self._seen:
            self._seen.add(identity)
            self._found.append((place.given, problem))

    def reported(self) -> list[Reported]:
        """All problems in the order of their documents, each with its line."""
        of: dict[int, list[tuple[Given, Problem]]] = defaultdict(list)
        for given, problem in self._found:
            of[id(given)].append((given, problem))
        return [each for group in of.values() for each in _located(group)]


def _located(found: list[tuple[Given, Problem]]) -> Iterator[Reported]:
    given = found[0][0]
    if given.lines is None:
        yield from (Reported(given.file, problem) for _, problem in found)
        return
    places = [(problem.path.removeprefix(given.stripped).removeprefix("."), 0) for _, problem in found]
    for (_, problem), line in zip(found, given.lines.of_all(places), strict=True):
        yield Reported(given.file, msgspec.structs.replace(problem, line=problem.line or line))
