"""Tables for people: what is kept in step, how that went, and when next."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, TextIO

from syncret.config.meta import Document, ObjectRef, member, ref_of
from syncret.daemon.one_pass import ACTED_UPON, Pass

HEAD: Final = ("KIND", "NAME", "READY", "STATUS", "WHERE", "NEXT")


class Row(NamedTuple):
    """One object."""

    kind: str
    name: str
    ready: str
    status: str
    where: str
    next: str


def rows_of(result: Pass, output_dir: str) -> list[Row]:
    """One row for each object that is acted upon, after a pass."""
    given = ((ref_of(document), document) for document in [*result.resources, *result.outputs])
    return sorted(
        row_of(document, failure=result.failures.get(ref, ""), due=result.due.get(ref), output_dir=output_dir)
        for ref, document in given
        if ref.kind in ACTED_UPON
    )


def row_of(document: Document, *, failure: str, due: float | None, output_dir: str) -> Row:
    """The row of one object."""
    ref = ref_of(document)
    status = member(document, "status")
    conditions: list[Document] = status.get("conditions", [])
    condition: Document = next((each for each in conditions if each.get("type") == "Ready"), Document())
    name = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    told = failure or condition.get("message") or condition.get("reason") or "waiting"
    return Row(
        ref.kind, name, condition.get("status", "-"), told, _where(document, ref, output_dir), _moment(due)
    )


def _where(document: Document, ref: ObjectRef, output_dir: str) -> str:
    status = member(document, "status")
    if ref.kind == "ExternalSecret":
        bound = member(status, "binding").get("name")
        place = f"{output_dir.rstrip('/')}/{ref.namespace}/{bound}/" if output_dir else f"Secret {bound}"
        return place if bound else "-"
    if ref.kind == "PushSecret":
        return ", ".join(sorted(status.get("syncedPushSecrets") or ())) or "-"
    return ", ".join(status.get("provisionedNamespaces") or ()) or "-"


def _moment(due: float | None) -> str:
    return datetime.fromtimestamp(due, UTC).strftime("%H:%M:%SZ") if due is not None else "on change"


def print_table(
    rows: Iterable[Sequence[str]], *, head: Sequence[str] = HEAD, out: TextIO | None = None
) -> None:
    """Columns as wide as they need to be."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        (out or sys.stdout).write("  ".join(cells).rstrip() + "\n")
