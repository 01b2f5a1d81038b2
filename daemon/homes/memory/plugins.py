"""What may be hooked into a cluster: admission, a journal, and a vault for what memory must not hold.

Admission by the rules of the config room: schema, defaults, rules between fields and between versions.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.config.schema.admission import Judge
from syncret.config.schema.metadata_rules import check_marks
from syncret.daemon.homes.contract import Stored
from syncret.daemon.homes.memory import kinds
from syncret.daemon.homes.memory.metadata import cleaned, problems_of


class Admitted(NamedTuple):
    """What admission made of a document: defaults filled in, converted, and what there is to say of it.

    One fatal problem refuses the document; warnings let it pass.
    """

    document: Document
    problems: tuple[Problem, ...] = ()


Admission: TypeAlias = Callable[[Document, Document | None], Admitted]
"""Judges a new document beside the version that it replaces (None: it is created), and may change the new.

Nobody judges it after that: what may pass is an object with a name, and metadata of the right types.
"""


def admit_all(document: Document, _: Document | None) -> Admitted:
    """The admission of a cluster that has none: whatever can be stored may be."""
    head = cleaned(document)
    problems = problems_of(head)
    return Admitted(document, problems or tuple(kinds.problems_of(head, ref_of(head).group_kind)))


class Journal(Protocol):
    """Is told of every mutation before it is made; one that it raises from is not made.

    What one request causes comes without an await in between, and the cause of a removal comes last: a
    failure or a crash in the middle leaves nothing that nobody looks for.
    """

    def saved(self, stored: Stored) -> None:
        """This version is about to stand under its name."""
        ...

    def removed(self, ref: ObjectRef) -> None:
        """The object of that name is about to go."""
        ...


class Vault(Protocol):
    """Keeps a part of objects (the data of Secrets) elsewhere than in memory and in the journal.

    The cluster keeps, journals and tells (in events) sealed versions only, and unseals one whenever somebody
    asks for it by `get` or `list`; a write returns what was written. Both calls are made inside the event
    loop and must not block for long; `seal` is no place to write: write between `prepare_*` and `commit`.
    """

    def seal(self, stored: Stored, document: Document) -> Stored:
        """The version without the part that is kept elsewhere; `document` is what it holds, for reading."""
        ...

    def unseal(self, stored: Stored) -> Stored:
        """The whole version; as it is where the part kept elsewhere is gone.

        Raises a BackendError where it cannot be told whether it is.
        """
        ...


class NoVault:
    """Everything stays in memory."""

    def seal(self, stored: Stored, document: Document) -> Stored:  # noqa: ARG002  # the protocol's
        return stored

    def unseal(self, stored: Stored) -> Stored:
        return stored


def admission_by(catalog: Catalog) -> Admission:
    """The admission of a cluster that knows the providers and generators of a catalog.

    Kinds that are none of ours are stored as they are, if their labels and annotations may be.
    """
    judge = Judge(catalog)

    def admit(document: Document, previous: Document | None) -> Admitted:
        judged = judge.judge(document, previous)
        if judged.foreign is not None:
            head = cleaned(document)
            return Admitted(document, problems_of(head) or tuple(check_marks(head["metadata"])))
        if judged.document is None:
            return Admitted(document, judged.problems)
        return Admitted(judged.document, judged.problems)

    return admit
