"""Tables for people: what is kept in step, how that went, and when next."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from syncret.config.meta import Document, ObjectRef, member, ref_of
from syncret.daemon.cli.terminal import print_columns
from syncret.daemon.one_pass import SyncResult
from syncret.daemon.ops.object_view import KINDS

HEAD: Final = ("KIND", "NAME", "READY", "STATUS", "WHERE", "NEXT")


class Row(NamedTuple):
    """One object."""

    kind: str
    name: str
    ready: str
    status: str
    where: str
    next: str


def rows_of(result: SyncResult, output_dir: str) -> list[Row]:
    """One row for each object that is acted upon, after a pass."""
    given = ((ref_of(document), document) for document in [*result.resources, *result.outputs])
    return sorted(
        row_of(document, failure=result.failures.get(ref, ""), due=result.due.get(ref), output_dir=output_dir)
        for ref, document in given
        if ref.group_kind in KINDS
    )


def row_of(document: Document, *, failure: str, due: float | None, output_dir: str) -> Row:
    """The row of one object."""
    ref = ref_of(document)
    status = member(document, "status")
    conditions: list[Document] = status.get("conditions", [])
    condition: Document = next((each for each in conditions if each.get("type") == "Ready"), Document())
    name = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    silent = "ready" if condition.get("status") == "True" else "waiting"
    told = failure or condition.get("message") or condition.get("reason") or silent
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


def print_table(rows: Iterable[Row]) -> None:
    """The table on stdout."""
    print_columns(HEAD, rows)
