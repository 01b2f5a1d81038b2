"""The report of a release: manifests, problems, and the result for each sensitive field, without values."""

from collections.abc import Iterable

from syncret.config.meta import Document
from syncret.daemon.core.redact import redacted
from syncret.daemon.release.compiler import Rendered
from syncret.daemon.release.dispatch import ref_of, variant_of
from syncret.daemon.release.documents import API_VERSION
from syncret.daemon.release.findings import Reported
from syncret.daemon.release.model import Field, Text
from syncret.daemon.release.parsed import Parsed


def problems_of(parsed: Parsed) -> list[Reported]:
    """All problems of a run, those of unreadable documents first."""
    return [*parsed.documents.unread, *parsed.findings.reported()]


def shown(items: Iterable[Document], *, show_values: bool) -> list[Document]:
    """The manifests, with or without the values of their Secrets."""
    return [item if show_values else redacted(item) for item in items]


def report(parsed: Parsed, result: Rendered, *, show_values: bool) -> Document:
    """The document of `-o json`."""
    documents = parsed.documents
    metadata = {"name": documents.instance}
    if documents.namespace:
        metadata["namespace"] = documents.namespace
    return {
        "apiVersion": API_VERSION,
        "kind": "ReleaseReport",
        "metadata": metadata,
        "items": shown(result.items, show_values=show_values),
        "problems": [as_document(each) for each in problems_of(parsed)],
        "secrets": [_secret(field, result) for field in parsed.fields],
    }


def as_document(reported: Reported) -> Document:
    """One problem with its file."""
    problem = reported.problem
    return {
        "severity": str(problem.severity),
        "file": reported.file,
        "line": problem.line,
        "path": problem.path,
        "message": problem.message,
        "hint": problem.hint,
    }


def _secret(field: Field, result: Rendered) -> Document:
    ref = ref_of(field, result.checked.groups[field.routing.secret_name])
    fulfilment = field.fulfilment
    return {
        "path": field.author.path,
        "variant": variant_of(fulfilment),
        "origin": fulfilment.origin if isinstance(fulfilment, Text) else "written",
        "ref": None if ref is None else {"name": ref.name, "key": ref.key},
        "constraints": result.checked.verdicts[field.label],
    }
