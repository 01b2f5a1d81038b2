"""Admission by the rules of the config room: schema, defaults, rules between fields and between versions."""

from syncret.config.catalog import Catalog
from syncret.config.decode import Judge
from syncret.config.meta import Document
from syncret.config.metadata import check_marks
from syncret.daemon.backends.memory.hooks import Admission, Admitted
from syncret.daemon.backends.memory.metadata import cleaned, problems_of


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
