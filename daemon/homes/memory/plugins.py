"""Plugins of a simulated cluster: admission, a journal, and a content store outside of memory.

Admission uses the rules of `syncret.config`: schema, defaults, rules between fields and between versions.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.config.schema.admission import Admission
from syncret.config.schema.metadata_rules import check_labels_and_annotations
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory import kinds
from syncret.daemon.homes.memory.metadata import normalized, problems_of


class Admitted(NamedTuple):
    """The result of admission: the document with defaults, converted; and the problems.

    One fatal problem refuses the document; warnings let it pass.
    """

    document: Document
    problems: tuple[Problem, ...] = ()


AdmissionPlugin: TypeAlias = Callable[[Document, Document | None], Admitted]
"""Validates a new document against the version that it replaces (None: it is created), and may change it.

Its result is not validated again: it must be an object with a name, and metadata of the right types.
"""


def admit_all(document: Document, _: Document | None) -> Admitted:
    """The admission of a cluster without rules: every document that can be stored is admitted."""
    head = normalized(document)
    problems = problems_of(head)
    return Admitted(document, problems or tuple(kinds.problems_of(head, ref_of(head).group_kind)))


def pass_through(document: Document, _: Document | None) -> Admitted:
    """The admission of documents that have been admitted already."""
    return Admitted(document)


class Journal(Protocol):
    """Is called with every mutation before it is made; if it raises, the mutation is not made.

    The mutations of one request come without an await in between, and an owner is removed after its
    dependents: after a failure or a crash in the middle, the next attempt finds what is left.
    """

    def saved(self, stored: StoredObject) -> None:
        """This version is about to be stored."""
        ...

    def removed(self, ref: ObjectRef) -> None:
        """The object of that name is about to be removed."""
        ...


class ContentStore(Protocol):
    """Keeps a part of objects (the data of Secrets) elsewhere than in memory and in the journal.

    The cluster keeps, journals and announces (in events) stripped versions only, and fills one whenever a
    caller asks for it by `get` or `list`; a write returns what was written. Both calls are made inside the
    event loop and must not block for long; `strip` is no place to write: write between `prepare_*` and
    `commit`.
    """

    def strip(self, ref: ObjectRef, document: Document) -> Document:
        """The document without the part that is kept elsewhere; the one that is given is not changed."""
        ...

    def fill(self, stored: StoredObject) -> StoredObject:
        """The whole version; as it is where the part kept elsewhere is gone.

        Raises StorageUnavailable if that is not known.
        """
        ...


class ContentInMemory:
    """Everything stays in memory."""

    def strip(self, ref: ObjectRef, document: Document) -> Document:
        del ref
        return document

    def fill(self, stored: StoredObject) -> StoredObject:
        return stored


def admission_by(catalog: Catalog) -> AdmissionPlugin:
    """The admission of a cluster that knows the providers and generators of a catalog.

    Kinds that are none of ours are stored as they are, if their labels and annotations may be.
    """
    admission = Admission(catalog)

    def admit(document: Document, previous: Document | None) -> Admitted:
        admitted = admission.admit(document, previous)
        if admitted.unknown_kind is not None:
            head = normalized(document)
            return Admitted(
                document, problems_of(head) or tuple(check_labels_and_annotations(head["metadata"]))
            )
        if admitted.document is None:
            return Admitted(document, admitted.problems)
        return Admitted(admitted.document, admitted.problems)

    return admit
