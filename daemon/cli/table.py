"""The table that `sync` and `run` print: each object with its condition, its output and its next run."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from syncret.config.meta import Document, ObjectRef, member, ref_of
from syncret.config.resources.kinds import is_shown, role_of
from syncret.daemon.cli.terminal import print_columns
from syncret.daemon.one_pass import SyncResult

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
    """One row for each object that is reconciled, after a pass."""
    objects = ((ref_of(document), document) for document in [*result.resources, *result.outputs])
    return sorted(
        row_of(document, failure=result.failures.get(ref, ""), due=result.due.get(ref), output_dir=output_dir)
        for ref, document in objects
        if is_shown(ref.group_kind)
    )


def row_of(document: Document, *, failure: str, due: float | None, output_dir: str) -> Row:
    """The row of one object."""
    ref = ref_of(document)
    status = member(document, "status")
    conditions: list[Document] = status.get("conditions", [])
    condition: Document = next((each for each in conditions if each.get("type") == "Ready"), Document())
    name = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    default = "ready" if condition.get("status") == "True" else "waiting"
    text = failure or condition.get("message") or condition.get("reason") or default
    return Row(
        ref.kind, name, condition.get("status", "-"), text, _where(document, ref, output_dir), _moment(due)
    )


def _where(document: Document, ref: ObjectRef, output_dir: str) -> str:
    status = member(document, "status")
    role = role_of(ref.group_kind)
    if role == "sync":
        bound = member(status, "binding").get("name")
        return f"{output_dir.rstrip('/')}/{ref.namespace}/{bound}/" if bound and output_dir else "-"
    if role == "push":
        return ", ".join(sorted(status.get("syncedPushSecrets") or ())) or "-"
    return ", ".join(status.get("provisionedNamespaces") or ()) or "-"


def _moment(due: float | None) -> str:
    if due is None:
        return "on change"
    return f"{datetime.fromtimestamp(due, UTC).time().isoformat('seconds')}Z"


def print_table(rows: Iterable[Row]) -> None:
    """The table on stdout."""
    print_columns(HEAD, rows)
