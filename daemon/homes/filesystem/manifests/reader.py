"""Finds manifest files below a folder, and reads one: which objects it defines, and what is wrong with it.

An entry that cannot be examined does not affect the others.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem, Severity
from syncret.config.manifests.bound_folders import manifest_outside_bounds, outside_bounds
from syncret.config.manifests.loader import SUFFIXES, LoadedDocument, load_bytes, special_file_name
from syncret.config.meta import Document, GroupKind, ObjectRef, is_object, ref_of, shared
from syncret.config.resources.exporting import has_exports
from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.admission import DEFAULT_NAMESPACE, Admission
from syncret.config.settings import BoundFolder
from syncret.daemon.files.syscalls import identity_of
from syncret.daemon.homes.contract import HomeProblem, RefusalReason
from syncret.daemon.homes.filesystem.manifests.releases import with_releases
from syncret.daemon.homes.memory.metadata import is_named

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.release.hosted import HostedRelease

_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class Remedies:
    """Adds the fitting hint to problems of files and folders."""

    def __init__(self, *, once: bool, former: bool) -> None:
        """As `ManifestFolders` has them."""
        self.once = once
        self._former = former

    def of_path(self, problem: Problem) -> Problem:
        """The problem of a path of the settings, with its hint."""
        if self.once:
            return self.of_file(problem)
        hint = "what it said last stays in force until it can be read, or is removed from the settings"
        return msgspec.structs.replace(problem, hint=hint)

    def of_file(self, problem: Problem) -> Problem:
        """The problem of a file that was found in a folder, with its hint."""
        if self.once and not self._former:
            return problem
        return msgspec.structs.replace(problem, hint=f"what it said last stays in force; {problem.hint}")


def followed(mode: int) -> Problem:
    """The problem of a pipe or a device that is to be followed."""
    return Problem(
        path="",
        message=f"is {special_file_name(mode)}: it cannot be read again and again",
        hint="name a file or a folder; `syncret sync` reads a pipe, once",
    )


_SUFFIXES: Final = tuple(SUFFIXES)

Found: TypeAlias = os.stat_result | OSError | Problem
"""A file, or why it cannot be looked at or shall not be."""


def walk(
    folder: str, seen: set[tuple[int, int]], refused: Callable[[str], Problem | None] | None = None
) -> Iterator[tuple[str, Found]]:
    """Files below a folder with a name of a manifest, in the order of names, each once; links are followed.

    Hidden names are passed over: editors' copies, `.git`, and the inner folders of a mounted ConfigMap.
    What cannot be examined (a folder without permission, a link to itself) is yielded with its error, and a
    link that is `refused` with the reason. Raises OSError for the folder itself.
    """
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        try:
            status = entry.stat()
        except OSError as error:
            if not isinstance(error, FileNotFoundError) or _is_dead_link(entry):
                yield entry.path, error
            continue  # or gone since it was listed
        identity, is_folder = identity_of(status), stat.S_ISDIR(status.st_mode)
        if identity in seen or not (is_folder or entry.name.endswith(_SUFFIXES)):
            continue
        problem = refused(entry.path) if refused is not None and entry.is_symlink() else None
        if problem is not None:
            yield entry.path, problem
            continue
        seen.add(identity)
        if is_folder:
            try:
                yield from walk(entry.path, seen, refused)
            except FileNotFoundError:  # gone since it was listed
                continue
            except OSError as error:
                yield entry.path, error
        else:
            yield entry.path, status


def _is_dead_link(entry: os.DirEntry[str]) -> bool:
    """Whether a link that leads nowhere has the name of a manifest: its disk may not be mounted."""
    return entry.name.endswith(_SUFFIXES) and entry.is_symlink()


class Manifest(msgspec.Struct, frozen=True):
    """One document that names an object: its place, and a digest that shows whether it changed.

    `content` is the document itself; it is dropped once it was applied.
    """

    ref: ObjectRef
    file: str
    line: int
    digest: str
    content: "Content | None" = None

    @property
    def document(self) -> Document | None:
        """The object as written or admitted, with its namespace."""
        if self.content is None:
            return None
        document: Document = msgspec.json.decode(self.content.data)
        if not self.ref.namespace:
            return document
        return {**document, "metadata": {**document["metadata"], "namespace": self.ref.namespace}}

    def located(self, problems: Sequence[Problem]) -> Sequence[Problem]:
        """Problems of the document with their lines filled in, while the document is there."""
        return problems if self.content is None else self.content.place.located(problems)


class Content(NamedTuple):
    """An encoded document, which takes a tenth of the memory: ten thousand may wait at once."""

    data: bytes
    place: LoadedDocument
    """Its place; without the document."""
    is_admitted: bool = False
    """Whether the document has passed admission as a new object, and is what is to be stored then."""
    refused: Sequence[Problem] = ()
    """Why it has not, with lines."""

    def __repr__(self) -> str:
        return "<Content>"  # it may be a Secret


class FileContent(msgspec.Struct, frozen=True):
    """The content of one file. `refused` names documents that are wrong; some have not even a name.

    `outside` are those of the refused ones that would do what the author may not.
    """

    manifests: Sequence[Manifest] = ()
    problems: Sequence[HomeProblem] = ()
    refused: Collection[ObjectRef] = ()
    has_unnamed_documents: bool = False
    outside: Collection[ObjectRef] = ()
    releases: "Sequence[HostedRelease]" = ()
    """The releases that some of the manifests are made for."""


_LARGE: Final = 32 * 1024
"""Characters of a document whose lines are not kept until it is applied: its problems get its first line."""

MOST_PROBLEMS: Final = 100
"""Problems of one file that are reported one by one."""

_ALL_PROBLEMS: Final = "`syncret validate` shows all of them"


class _Problems:
    """The problems of one file: of very many the first, and how many more there are."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._kept: list[HomeProblem] = []
        self._more: list[int] = [0, 0]

    def add(
        self,
        loaded: LoadedDocument,
        problems: Sequence[Problem],
        reason: RefusalReason = RefusalReason.INVALID,
        ref: ObjectRef | None = None,
    ) -> None:
        """Add the problems of one document, with their lines."""
        if problems and len(self._kept) < MOST_PROBLEMS:
            for problem in loaded.located(problems):
                why = reason if problem.fatal else None
                self._kept.append(HomeProblem(self._file, problem, ref, why, loaded.line))
        else:
            for problem in problems:
                self._more[problem.fatal] += 1

    def all(self) -> Sequence[HomeProblem]:
        """The problems that are shown."""
        severities = (Severity.WARNING, Severity.ERROR)
        more = (
            HomeProblem(
                self._file,
                _more(count, severity),
                reason=RefusalReason.INVALID if severity is Severity.ERROR else None,
            )
            for count, severity in zip(self._more, severities, strict=True)
            if count
        )
        return [*self._kept, *more]


class _Foreign:
    """One note for all foreign documents of a file: there may be many."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._first: Problem | None = None
        self._more = 0

    def add(self, loaded: LoadedDocument, note: Problem) -> None:
        """Add the note on one document."""
        if self._first is None:
            [self._first] = loaded.located([note])
        else:
            self._more += 1

    def all(self) -> Sequence[HomeProblem]:
        """The first, and how many more there are."""
        if self._first is None:
            return ()
        more = f"{self._first.message}, and {self._more} more here" if self._more else self._first.message
        return [HomeProblem(self._file, msgspec.structs.replace(self._first, message=more))]


def _more(count: int, severity: Severity) -> Problem:
    message = f"has {count} more problems"
    return Problem(path="", message=message, hint=_ALL_PROBLEMS, severity=severity)


def _first(loaded: LoadedDocument, problems: Sequence[Problem]) -> Sequence[Problem]:
    """The fatal problems of a document, with their lines: of very many the first."""
    fatal = [problem for problem in problems if problem.fatal]
    kept = loaded.located(fatal[:MOST_PROBLEMS])
    count = len(fatal) - len(kept)
    return [*kept, _more(count, Severity.ERROR)] if count else kept


class ManifestReader:
    """Reads files by the kinds of a catalog, and admits each document: its warnings stand as long as it does.

    Refuses for names only: a document that breaks other rules is refused when it is applied.
    """

    def __init__(self, catalog: Catalog, salt: bytes = b"") -> None:
        """`salt` goes into the digests, so that values of a Secret cannot be tried against them."""
        self._salt = salt
        self.kinds = Kinds(catalog)
        self._admission = Admission(catalog)

    def read(self, file: str, data: bytes, folder: BoundFolder | None = None) -> FileContent:
        """The content of a file; `folder` binds its author. Never raises for what an author wrote."""
        manifests: dict[ObjectRef, Manifest] = {}
        problems = _Problems(file)
        refused: set[ObjectRef] = set()
        outside: set[ObjectRef] = set()
        foreign = _Foreign(file)
        torn = False
        releases: list[HostedRelease] = []
        for loaded in with_releases(load_bytes(file, data), releases):
            named = self._named(file, loaded.document)
            if isinstance(named, Problem):
                foreign.add(loaded, named)
                continue
            if loaded.problems:
                ref = named if isinstance(named, ObjectRef) else None
                problems.add(loaded, loaded.problems, RefusalReason.SYNTAX, ref)
            if not isinstance(named, ObjectRef):
                problems.add(loaded, named, self._why_unnamed(loaded.document))
                torn = True
            elif folder is not None and (
                problem := manifest_outside_bounds(named, loaded.document or {}, folder, self.kinds)
            ):
                problems.add(loaded, [problem], RefusalReason.BOUNDS, named)
                if outside_bounds(named, folder) is None:
                    refused.add(named)
                    outside.add(named)
            elif any(problem.fatal for problem in loaded.problems):
                refused.add(named)
            elif named in manifests:
                duplicate = duplicate_problem(named, loaded.line, manifests[named])
                problems.add(loaded, [duplicate], RefusalReason.DUPLICATE, named)
            else:
                admitted = self._admission.admit(loaded.document)
                unknown = admitted.unknown_kind  # a kind of another operator, whose resource exports
                is_exporting = unknown is not None and not unknown.fatal
                is_admitted = admitted.accepted or is_exporting
                lines = None if is_admitted and loaded.size > _LARGE else loaded.lines
                content = Content(
                    msgspec.json.encode(
                        loaded.document if is_exporting or not is_admitted else admitted.document
                    ),
                    msgspec.structs.replace(loaded, document=None, lines=lines),
                    is_admitted,
                    () if is_admitted else _first(loaded, admitted.problems),
                )
                manifests[named] = Manifest(named, file, loaded.line, self._digest(loaded.document), content)
                if admitted.warnings:
                    problems.add(loaded, admitted.warnings, ref=named)
        shown = [*problems.all(), *foreign.all()]
        return FileContent(list(manifests.values()), shown, refused, torn, outside, releases)

    def says(self, document: Document | None, manifest: Manifest) -> bool:
        """Whether a document is that of a manifest, unchanged."""
        return document is not None and self._digest(document) == manifest.digest

    def _digest(self, document: Document | None) -> str:
        return digest_of(_ENCODER.encode(document), self._salt)

    def _named(self, file: str, document: Document | None) -> ObjectRef | Problem | Sequence[Problem]:
        """The object that a document defines; or the note on a foreign one, or why it cannot be named."""
        if document is None:
            return ()
        kind = self._kind(document)
        metadata = document.get("metadata")
        if kind is None and has_exports(document) and is_named(document):
            named = ref_of(document)
            return shared(*named._replace(namespace=named.namespace or DEFAULT_NAMESPACE))
        if kind is None or not is_object(metadata) or not isinstance(metadata.get("name"), str):
            admitted = self._admission.admit(document)
            return admitted.foreign(file) or admitted.all_problems
        namespace = metadata.get("namespace") or DEFAULT_NAMESPACE if kind.namespaced else ""
        return shared(kind.group, kind.kind, str(namespace), metadata["name"])

    def _kind(self, document: Document) -> Kind | None:
        """The kind of a document, if there is such a kind."""
        group = str(document.get("apiVersion")).rpartition("/")[0]
        return self.kinds.find(GroupKind(group, str(document.get("kind"))))

    def _why_unnamed(self, document: Document | None) -> RefusalReason:
        """The reason why the object of a document is not known."""
        unknown = document is not None and self._kind(document) is None
        return RefusalReason.KIND if unknown else RefusalReason.INVALID


def duplicate_problem(ref: ObjectRef, line: int, first: Manifest, *, owned: bool = False) -> Problem:
    """An object that is defined in two places; the first stays in force, or the one whose folder is bound."""
    why = "is defined in a bound folder" if owned else "is already defined"
    return Problem(
        path="metadata.name",
        message=f"{ref} {why} at {first.file}:{first.line}, which stays in force",
        hint="remove one of them, or give it another name",
        line=line,
    )


def digest_of(content: bytes, salt: bytes) -> str:
    """The digest of a manifest's content."""
    return hashlib.blake2b(content, key=salt, digest_size=16).hexdigest()
