"""Splits a text into documents, each with its file and line; the items of a List are documents too."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from syncret.config.errors import Problem
from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.paths import parse, write
from syncret.config.text.yaml import LIMITS, Limits, Lines, ParsedDocument, parse_text


class LoadedDocument(msgspec.Struct, frozen=True):
    """One document with its file and line; None if it could not be read, and `problems` say why."""

    file: str
    line: int
    document: Document | None
    problems: tuple[Problem, ...] = ()
    lines: Lines | None = None

    def line_of(self, path: str) -> int:
        """The line of a field, counted from 1, or of its nearest ancestor that exists."""
        return self.lines.of(path) if self.lines is not None else self.line

    def located(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The problems with their lines filled in."""
        return tuple(
            problem if problem.line else msgspec.structs.replace(problem, line=self.line_of(problem.path))
            for problem in problems
        )


def load_bytes(file: str, data: bytes, limits: Limits = LIMITS) -> list[LoadedDocument]:
    """The documents of a text, with this file name."""
    parsed = parse_text(data, as_json=file.endswith(".json"), limits=limits)
    return [document for each in parsed for document in _flattened(file, each)]


def _flattened(file: str, parsed: ParsedDocument) -> Iterator[LoadedDocument]:
    """One document, or all the items of a List."""
    value, problems = parsed.value, parsed.problems
    if value is None:
        if problems:
            yield LoadedDocument(file, parsed.line, None, problems, parsed.lines)
        return
    if not is_object(value):
        problem = Problem(path="", message="must be an object with apiVersion and kind", line=parsed.line)
        yield LoadedDocument(file, parsed.line, None, (*problems, problem), parsed.lines)
        return
    if _is_list(value):
        yield from _items(file, parsed, value)
    else:
        yield LoadedDocument(file, parsed.line, value, problems, parsed.lines)


def _is_list(document: Document) -> bool:
    """Whether a document is a list of others. As for kubectl, a kind other than List must have items."""
    kind = document.get("kind")
    return kind == "List" or (isinstance(kind, str) and kind.endswith("List") and "items" in document)


def _items(file: str, parsed: ParsedDocument, of: Document) -> Iterator[LoadedDocument]:
    items: Json = of.get("items")
    if items is None and "items" in of:
        items = []
    if not is_list(items):
        message = "is required" if items is None else "must be an array"
        wrong = _of_list(parsed, "items", message, "start each entry with '- '")
        yield LoadedDocument(file, parsed.line, None, (*parsed.problems, wrong), parsed.lines)
        return
    of_items, others = _by_item(parsed.problems)
    for place, item in enumerate(items):
        lines = parsed.lines.below("items", place)
        document, found = _item(of, item), of_items[place]
        if document is None:
            found.append(_of_list(parsed, f"items[{place}]", "must be an object with apiVersion and kind"))
        elif _is_list(document):
            document = None
            hint = "write its items in place of it"
            found.append(_of_list(parsed, f"items[{place}]", "is a list itself", hint))
        yield LoadedDocument(file, lines.of(""), document, tuple(found), lines)
    if others:
        yield LoadedDocument(file, parsed.line, None, tuple(others), parsed.lines)


def _item(of: Document, item: Json) -> Document | None:
    """One item as a document; the items of an ExternalSecretList may lack apiVersion and kind."""
    if not is_object(item):
        return None
    if of["kind"] == "List" or "kind" in item:
        return item
    return {"apiVersion": of.get("apiVersion"), "kind": of["kind"].removesuffix("List"), **item}


def _of_list(parsed: ParsedDocument, path: str, message: str, hint: str = "") -> Problem:
    """A problem of the list itself, with its line (paths of items are relative to the item)."""
    return Problem(path=path, message=message, hint=hint, line=parsed.lines.of(path))


def _by_item(problems: Iterable[Problem]) -> tuple[defaultdict[int, list[Problem]], list[Problem]]:
    """The problems within each item of a List, with paths relative to it, and the problems outside."""
    of_items: defaultdict[int, list[Problem]] = defaultdict(list)
    others: list[Problem] = []
    for problem in problems:
        match parse(problem.path):
            case ["items", int(place), *steps] if steps:
                of_items[place].append(msgspec.structs.replace(problem, path=write(steps)))
            case _:
                others.append(problem)
    return of_items, others
