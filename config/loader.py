"""Loads documents from files and folders. An author's mistakes never raise here: each becomes a Problem.

Folders are read recursively, and links are followed. Names that begin with a dot are skipped, which hides the
`..data` folders behind a mounted ConfigMap. A file that is reached in two ways is read once. Pipes and
devices are read if they are named themselves; in a folder they are only reported.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from syncret.config.documents import LoadedDocument, load_bytes
from syncret.config.errors import Problem, Severity
from syncret.config.files import read_bounded, unreadable, what_it_is
from syncret.config.meta import Document, ObjectRef, is_object
from syncret.config.yaml import LIMITS, Limits

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})

NO_MANIFESTS: Final = Problem(
    path="",
    message="the folder contains no manifests",
    hint="their names end in .yaml, .yml or .json and do not begin with a dot",
    severity=Severity.WARNING,
)


def load(paths: Iterable[str | Path], limits: Limits = LIMITS) -> list[LoadedDocument]:
    """Every document of some files and folders, in the order of the paths and, in a folder, of the names."""
    loaded: list[LoadedDocument] = []
    seen: set[str] = set()
    for path in paths:
        for found in _found(Path(path), seen):
            loaded += load_file(found, limits) if isinstance(found, Path) else [found]
    return list(_unique(loaded))


def load_file(file: Path, limits: Limits = LIMITS) -> list[LoadedDocument]:
    """The documents of one file."""
    misnamed = name_problem(str(file))
    if misnamed is not None:
        return [_no_document(file, misnamed)]
    try:
        data = read_bounded(file, limits.file + 1)
    except (OSError, ValueError) as error:
        return [_no_document(file, unreadable(error))]
    return load_bytes(str(file), data, limits)


def name_problem(file: str) -> Problem | None:
    """What is wrong with a file's name: one that is not text cannot go into reports, the state or answers."""
    if file.isprintable() or shown_name(file) == file:
        return None
    return Problem(path="", message="the name of the file is not UTF-8 text", hint="rename it")


def shown_name(file: str) -> str:
    """The name of a file as it can be shown: bytes that are not text are escaped."""
    return os.fsencode(file).decode("utf-8", "backslashreplace")


def special_problem(mode: int) -> Problem:
    """What is wrong with a pipe, a socket or a device that is called as a manifest is, in a folder."""
    message = f"is {what_it_is(mode)}, not a file, and is not read"
    return Problem(path="", message=message, hint="remove or rename it")


def _found(path: Path, seen: set[str]) -> Iterator[Path | LoadedDocument]:
    """The manifest files at a path that was named, and what is wrong with what is no such file."""
    nothing = True
    for each in _files(path, seen, named=True):
        nothing = False
        yield each
    if nothing and not any(True for _ in _files(path, set(), named=True)):  # nor any that was reached before
        yield _no_document(path, NO_MANIFESTS)


def _files(path: Path, seen: set[str], *, named: bool = False) -> Iterator[Path | LoadedDocument]:
    """Each file once: `seen` remembers real paths. In a folder, the suffix decides."""
    wanted = named or path.suffix in SUFFIXES
    try:
        mode = path.stat().st_mode
        wanted = wanted or stat.S_ISDIR(mode)
        names = sorted(os.listdir(path)) if stat.S_ISDIR(mode) else None  # noqa: PTH208  # names are all it needs
    except (OSError, ValueError) as error:
        if wanted:
            yield _no_document(path, name_problem(str(path)) or unreadable(error, named=named))
        return
    real = os.path.realpath(path)
    if not wanted or real in seen:
        return
    seen.add(real)
    for name in names or ():
        if not name.startswith("."):
            yield from _files(path / name, seen)
    if names is None:
        yield path if named or stat.S_ISREG(mode) else _no_document(path, special_problem(mode))


def _no_document(file: Path, problem: Problem) -> LoadedDocument:
    return LoadedDocument(shown_name(str(file)), 0, None, (problem,))


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
