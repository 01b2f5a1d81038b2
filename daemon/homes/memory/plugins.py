"""What may be hooked into a cluster: admission, a journal, and a content store for what memory must not hold.

Admission by the rules of the config room: schema, defaults, rules between fields and between versions.
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
    """What admission made of a document: defaults filled in, converted, and what there is to say of it.

    One fatal problem refuses the document; warnings let it pass.
    """

    document: Document
    problems: tuple[Problem, ...] = ()


AdmissionPlugin: TypeAlias = Callable[[Document, Document | None], Admitted]
"""Judges a new document beside the version that it replaces (None: it is created), and may change the new.

Nobody judges it after that: what may pass is an object with a name, and metadata of the right types.
"""


def admit_all(document: Document, _: Document | None) -> Admitted:
    """The admission of a cluster that has none: whatever can be stored may be."""
    head = normalized(document)
    problems = problems_of(head)
    return Admitted(document, problems or tuple(kinds.problems_of(head, ref_of(head).group_kind)))


def pass_through(document: Document, _: Document | None) -> Admitted:
    """The admission of what has passed another one already."""
    return Admitted(document)


class Journal(Protocol):
    """Is told of every mutation before it is made; one that it raises from is not made.

    What one request causes comes without an await in between, and the cause of a removal comes last: a
    failure or a crash in the middle leaves nothing that nobody looks for.
    """

    def saved(self, stored: StoredObject) -> None:
        """This version is about to stand under its name."""
        ...

    def removed(self, ref: ObjectRef) -> None:
        """The object of that name is about to go."""
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

        Raises a BackendError where it cannot be told whether it is.
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
        judged = admission.admit(document, previous)
        if judged.unknown_kind is not None:
            head = normalized(document)
            return Admitted(
                document, problems_of(head) or tuple(check_labels_and_annotations(head["metadata"]))
            )
        if judged.document is None:
            return Admitted(document, judged.problems)
        return Admitted(judged.document, judged.problems)

    return admit
