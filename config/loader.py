"""Loads documents from files and folders. An author's mistakes never raise here: each becomes a Problem.

Folders are read recursively, and links are followed. Names that begin with a dot are skipped, which hides the
`..data` folders behind a mounted ConfigMap. A file that is reached in two ways is read once.
"""

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document, ObjectRef, is_object
from syncret.config.paths import parse, write
from syncret.config.yaml import LIMITS, Limits, Lines, Parsed, parse_text

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})


class LoadedDocument(msgspec.Struct, frozen=True):
    """A document and its place in a file; where nothing could be read, `document` is None."""

    file: str
    line: int
    document: Document | None
    problems: tuple[Problem, ...] = ()
    lines: Lines | None = None

    def line_of(self, path: str) -> int:
        """The line of a field, counted from 1, or of the nearest thing around it."""
        return self.lines.of(path) if self.lines is not None else self.line

    def located(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The problems with their lines filled in."""
        return tuple(
            problem if problem.line else msgspec.structs.replace(problem, line=self.line_of(problem.path))
            for problem in problems
        )


def load(paths: Iterable[str | Path], limits: Limits = LIMITS) -> list[LoadedDocument]:
    """Every document of some files and folders, in the order of the paths and, in a folder, of the names."""
    loaded: list[LoadedDocument] = []
    seen: set[str] = set()
    for path in paths:
        for file in manifest_files(Path(path), seen):
            loaded += load_file(file, limits)
    return list(_unique(loaded))


def load_file(file: Path, limits: Limits = LIMITS) -> list[LoadedDocument]:
    """The documents of one file."""
    misnamed = name_problem(str(file))
    if misnamed is not None:
        return [LoadedDocument(shown_name(str(file)), 0, None, (misnamed,))]
    try:
        with file.open("rb") as stream:
            data = stream.read(limits.file + 1)
    except (OSError, ValueError) as error:
        return [_unreadable(file, error)]
    return load_bytes(str(file), data, limits)


def name_problem(file: str) -> Problem | None:
    """What is wrong with a file's name: one that is not text cannot go into reports, the state or answers."""
    if file.isprintable() or shown_name(file) == file:
        return None
    return Problem(path="", message="the name of the file is not UTF-8 text", hint="rename it")


def shown_name(file: str) -> str:
    """The name of a file as it can be shown: bytes that are not text are escaped."""
    return os.fsencode(file).decode("utf-8", "backslashreplace")


def load_bytes(file: str, data: bytes, limits: Limits = LIMITS) -> list[LoadedDocument]:
    """The documents of a text, as if it stood in that file."""
    parsed = parse_text(data, as_json=file.endswith(".json"), limits=limits)
    return [document for each in parsed for document in _flattened(file, each)]


def manifest_files(path: Path, seen: set[str], *, named: bool = True) -> Iterator[Path]:
    """The files at a path that may hold manifests, each once: `seen` remembers their real paths.

    A path that was `named` is read whatever it is called; in a folder, the suffix decides.
    """
    wanted = named or path.suffix in SUFFIXES
    try:
        mode = path.stat().st_mode
        names = sorted(os.listdir(path)) if stat.S_ISDIR(mode) else None  # noqa: PTH208  # names are all it needs
    except (OSError, ValueError):
        if wanted:
            yield path  # reading it says what is wrong
        return
    real = os.path.realpath(path)
    if real in seen:
        return
    seen.add(real)
    if names is None:
        if named or (wanted and stat.S_ISREG(mode)):
            yield path
        return
    for name in names:
        if not name.startswith("."):
            yield from manifest_files(path / name, seen, named=False)


def _unreadable(file: Path, error: OSError | ValueError) -> LoadedDocument:
    reason = error.strerror if isinstance(error, OSError) else "the name has a NUL"
    missing = isinstance(error, FileNotFoundError)
    message = "there is no such file or folder" if missing else f"cannot be read: {reason}"
    return LoadedDocument(str(file), 0, None, (Problem(path="", message=message),))


def _flattened(file: str, parsed: Parsed) -> Iterator[LoadedDocument]:
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
    kind, items = value.get("kind"), value.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield LoadedDocument(file, parsed.line, value, problems, parsed.lines)
        return
    common = {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
    of_items, others = _by_item(problems)
    for place, item in enumerate(value["items"]):
        lines = parsed.lines.below("items", place)
        own = tuple(of_items[place])
        if is_object(item):
            document = item if kind == "List" or "kind" in item else {**common, **item}
            yield LoadedDocument(file, lines.of(""), document, own, lines)
        else:
            problem = Problem(path="", message="must be an object with apiVersion and kind")
            yield LoadedDocument(file, lines.of(""), None, (*own, problem), lines)
    if others:
        yield LoadedDocument(file, parsed.line, None, tuple(others), parsed.lines)


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


def _unique(loaded: list[LoadedDocument]) -> Iterator[LoadedDocument]:
    """Adds to each object that was defined before a problem that says where."""
    first: dict[ObjectRef, LoadedDocument] = {}
    for each in loaded:
        ref = _name(each.document)
        if ref is None or first.setdefault(ref, each) is each:
            yield each
            continue
        problem = Problem(
            path="metadata.name",
            message=f"{ref} is already defined at {first[ref].file}:{first[ref].line}",
            hint="remove one of them, or give it another name",
        )
        yield msgspec.structs.replace(each, problems=(*each.problems, *each.located([problem])))


def _name(document: Document | None) -> ObjectRef | None:
    """The object that a document describes, if it says which; without a namespace, one in `default`."""
    if document is None or not is_object(metadata := document.get("metadata")):
        return None
    version, kind, name = document.get("apiVersion"), document.get("kind"), metadata.get("name")
    namespace = metadata.get("namespace") or "default"
    if all(isinstance(part, str) and part for part in (version, kind, name, namespace)):
        return ObjectRef(str(version).rpartition("/")[0], str(kind), str(namespace), str(name))
    return None
