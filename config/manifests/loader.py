"""Loads documents from files, folders and pipes; a mistake in a manifest becomes a Problem, not an exception.

A document has its file and line; the items of a List are documents too.

Folders are read recursively, and links are followed. Names that begin with a dot are skipped, which hides the
`..data` folders behind a mounted ConfigMap. A file that is reached by two paths is read once. Pipes and
devices are read if they are named themselves; in a folder they are only reported.
"""

import errno
import os
import select
import stat
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Final

import msgspec

from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_list, is_object
from syncret.config.paths import parse as parse_path
from syncret.config.paths import write as write_path
from syncret.config.text.yaml import LIMITS, ParsedDocument, parse_text
from syncret.config.text.yaml_lines import Lines
from syncret.config.text.yaml_values import Limits

PIPE_TIMEOUT: Final = 10.0
"""Seconds to wait for a writer of a pipe; a shell's `<(command)` has one from the start."""

_PIECE: Final = 1 << 16


def read_bounded(path: str | Path, limit: int) -> bytes:
    """The content of a path, at most `limit` bytes. Raises OSError, and ValueError for a name with a NUL.

    A pipe is read to its end, however long that takes; one without a writer is given up after PIPE_TIMEOUT.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123  # opened so that nothing waits
        descriptor = stream.fileno()
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return _read_pipe(descriptor, limit)
        os.set_blocking(descriptor, True)
        return stream.read(limit)


def special_file_name(mode: int) -> str:
    """The noun for something that is neither file nor folder."""
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def unreadable(error: OSError | ValueError, *, named: bool = True) -> Problem:
    """Why a path cannot be read, and the remedy; one that was not `named` was found in a folder."""
    if isinstance(error, ValueError):
        return Problem(path="", message="cannot be read: the name has a NUL", hint="correct the name")
    message, hint = f"cannot be read: {error.strerror}", "repair or remove it"
    if isinstance(error, FileNotFoundError) and named:
        message, hint = "there is no such file or folder", "correct the path, or create it"
    elif isinstance(error, FileNotFoundError):
        hint = "correct or remove the link"
    elif isinstance(error, PermissionError):
        hint = "let the user that syncret runs as read it"
    elif isinstance(error, TimeoutError):
        message, hint = (
            "is a pipe that no process writes to",
            "start the process that writes to it, or name a file",
        )
    elif isinstance(error, IsADirectoryError):
        hint = "name a file"
    elif error.errno == errno.ENXIO:
        message, hint = "is a socket, not a file", "name a file"
    return Problem(path="", message=message, hint=hint)


def _read_pipe(descriptor: int, limit: int) -> bytes:
    """The content of a pipe. Raises TimeoutError if no process opens it to write."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    pieces: list[bytes] = []
    while limit > 0:
        events = poll.poll(PIPE_TIMEOUT * 1000)
        try:
            piece = os.read(descriptor, min(limit, _PIECE))
        except BlockingIOError:  # a writer has it open, and has not written yet
            continue
        if not piece:
            if not events:
                raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
            break
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


class LoadedDocument(msgspec.Struct, frozen=True):
    """One document with its file and line; None if it could not be read, and `problems` say why."""

    file: str
    line: int
    document: Document | None
    problems: tuple[Problem, ...] = ()
    lines: Lines | None = None

    @property
    def size(self) -> int:
        """The characters of its text, as long as that is there."""
        return self.lines.size if self.lines is not None else 0

    def line_of(self, path: str, text_line: int = 0) -> int:
        """The line of a field, counted from 1, or of its nearest ancestor that exists; or one in its text."""
        return self.lines.of(path, text_line) if self.lines is not None else self.line

    def located(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The problems with their lines filled in."""
        given = list(problems)
        unplaced = [(problem.path, problem.text_line) for problem in given if not problem.line]
        if not unplaced:
            return tuple(given)
        lines = iter(self.lines.of_all(unplaced) if self.lines is not None else repeat(self.line))
        return tuple(
            problem if problem.line else msgspec.structs.replace(problem, line=next(lines))
            for problem in given
        )


def load_bytes(
    file: str, data: bytes, limits: Limits = LIMITS, *, at_line: int = 0
) -> Iterator[LoadedDocument]:
    """The documents of a text, with this file name; one is in memory at a time. `at_line` as `parse_text`."""
    for each in parse_text(data, as_json=file.endswith(".json"), limits=limits, at_line=at_line):
        yield from _flattened(file, each)


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
        line = parsed.lines.of("items")
        wrong = Problem(path="items", message=message, hint="start each entry with '- '", line=line)
        yield LoadedDocument(file, parsed.line, None, (*parsed.problems, wrong), parsed.lines)
        return
    of_items, others = _by_item(parsed.problems)
    for (place, item), lines in zip(enumerate(items), parsed.lines.of_items("items"), strict=False):
        document, found = _item(of, item), of_items.get(place, [])
        path, message = f"items[{place}]", "must be an object with apiVersion and kind"
        if document is None:
            found.append(Problem(path=path, message=message, line=lines.line))
        elif _is_list(document):
            document, message = None, "is a list itself"
            hint = "write its items in place of it"
            found.append(Problem(path=path, message=message, hint=hint, line=lines.line))
        yield LoadedDocument(file, lines.line, document, tuple(found), lines)
    if others:
        yield LoadedDocument(file, parsed.line, None, tuple(others), parsed.lines)


def _item(of: Document, item: Json) -> Document | None:
    """One item as a document; the items of an ExternalSecretList may lack apiVersion and kind."""
    if not is_object(item):
        return None
    if of["kind"] == "List" or "kind" in item:
        return item
    return {"apiVersion": of.get("apiVersion"), "kind": of["kind"].removesuffix("List"), **item}


def _by_item(problems: Iterable[Problem]) -> tuple[defaultdict[int, list[Problem]], list[Problem]]:
    """The problems within each item of a List, with paths relative to it, and the problems outside."""
    of_items: defaultdict[int, list[Problem]] = defaultdict(list)
    others: list[Problem] = []
    for problem in problems:
        match parse_path(problem.path):
            case ["items", int(place), *steps] if steps:
                of_items[place].append(msgspec.structs.replace(problem, path=write_path(steps)))
            case _:
                others.append(problem)
    return of_items, others


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
        for found in _manifests_at(Path(path), seen):
            loaded += load_file(found, limits) if isinstance(found, Path) else [found]
    return list(_with_duplicate_problems(loaded))


def load_file(file: Path, limits: Limits = LIMITS) -> list[LoadedDocument]:
    """The documents of one file."""
    misnamed = name_problem(str(file))
    if misnamed is not None:
        return [_no_document(file, misnamed)]
    try:
        data = read_bounded(file, limits.file + 1)
    except (OSError, ValueError) as error:
        return [_no_document(file, unreadable(error))]
    return list(load_bytes(str(file), data, limits))


def name_problem(file: str) -> Problem | None:
    """The problem of a file name that is not UTF-8: it cannot go into reports, the state or responses."""
    if file.isprintable() or shown_name(file) == file:
        return None
    return Problem(path="", message="the name of the file is not UTF-8 text", hint="rename it")


def shown_name(file: str) -> str:
    """The name of a file as it can be shown: bytes that are not text are escaped."""
    return os.fsencode(file).decode("utf-8", "backslashreplace")


def is_below(file: str, paths: Collection[str]) -> bool:
    """Whether a file is one of these, or in one of these folders, by its name."""
    return any(file == path or file.startswith(path.rstrip("/") + "/") for path in paths)


def special_problem(mode: int) -> Problem:
    """The problem of a pipe, socket or device in a folder whose name is that of a manifest."""
    message = f"is {special_file_name(mode)}, not a file, and is not read"
    return Problem(path="", message=message, hint="remove or rename it")


def _manifests_at(path: Path, seen: set[str]) -> Iterator[Path | LoadedDocument]:
    """The manifest files at a path of the command line or settings, or the problems of that path."""
    nothing = True
    for each in _files(path, seen, named=True):
        nothing = False
        yield each
    if nothing and not any(True for _ in _files(path, set(), named=True)):  # nor seen before
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


def _with_duplicate_problems(loaded: list[LoadedDocument]) -> Iterator[LoadedDocument]:
    """Adds a problem to each object that is defined twice, with the place of the first."""
    first: dict[ObjectRef, LoadedDocument] = {}
    for each in loaded:
        ref = _ref_if_named(each.document)
        if ref is None or first.setdefault(ref, each) is each:
            yield each
            continue
        problem = Problem(
            path="metadata.name",
            message=f"{ref} is already defined at {first[ref].file}:{first[ref].line}",
            hint="remove one of them, or give it another name",
        )
        yield msgspec.structs.replace(each, problems=(*each.problems, *each.located([problem])))


def _ref_if_named(document: Document | None) -> ObjectRef | None:
    """The ref of a document, if it has kind and name; without a namespace, one in `default`."""
    if document is None or not is_object(metadata := document.get("metadata")):
        return None
    version, kind, name = document.get("apiVersion"), document.get("kind"), metadata.get("name")
    namespace = metadata.get("namespace") or "default"
    if all(isinstance(part, str) and part for part in (version, kind, name, namespace)):
        return ObjectRef(str(version).rpartition("/")[0], str(kind), str(namespace), str(name))
    return None
