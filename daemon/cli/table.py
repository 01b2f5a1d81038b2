"""The table that `sync` and `run` print: each object with its condition, its output and its next run."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from syncret.config.meta import Document, ObjectRef, member, ref_of
from syncret.config.resources.exporting import has_exports
from syncret.config.resources.kinds import is_shown, role_of
from syncret.daemon.cli.columns import VERDICTS, Column, Row, Verdict, print_table
from syncret.daemon.core.plan.actions import Verb
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.one_pass import SyncResult

if TYPE_CHECKING:  # sync needs nothing of the daemon's operations
    from syncret.daemon.ops.view import LastError

COLUMNS: Final = (
    Column("KIND"),
    Column("NAME", "flexible", "middle"),
    Column("READY", is_verdict=True),
    Column("NEXT"),
    Column("WHERE", "flexible", "start"),
    Column("STATUS", "message"),
    Column("REMEDY", "detail"),
)
MORE: Final = Column("MANIFEST", "detail")


class ObjectRow(NamedTuple):
    """One object. Rows sort by their rank: what fails comes first."""

    rank: int
    kind: str
    name: str
    verdict: Verdict
    next: str
    where: str
    status: str
    remedy: str = "-"
    manifest: str = "-"

    @property
    def fails(self) -> bool:
        """Whether it failed, or is not ready."""
        return self.rank == VERDICTS[False].rank


def rows_of(result: SyncResult, output_dir: str) -> list[ObjectRow]:
    """One row for each object that is reconciled, after a pass."""
    objects = ((ref_of(document), document) for document in [*result.resources, *result.outputs])
    return [
        row_of(
            document if is_shown(ref.group_kind) else _as_exported(document, result.errors.get(ref)),
            error=result.errors.get(ref),
            due=result.due.get(ref),
            output_dir=output_dir,
            manifest=result.places.get(ref),
        )
        for ref, document in objects
        if is_shown(ref.group_kind) or has_exports(document)
    ]


def _as_exported(document: Document, error: "LastError | None") -> Document:
    """A resource of another operator with what became of its exports, in the place of its own status."""
    condition = {"type": "Ready", "status": "True" if error is None else "False", "message": "exported"}
    return {**document, "status": {"conditions": [condition]}}


def row_of(
    document: Document,
    *,
    error: "LastError | None",
    due: float | None,
    output_dir: str,
    manifest: str | None = None,
) -> ObjectRow:
    """The row of one object."""
    ref = ref_of(document)
    status = member(document, "status")
    conditions: list[Document] = status.get("conditions", [])
    condition: Document = next((each for each in conditions if each.get("type") == "Ready"), Document())
    ready = {"True": True, "False": False}.get(condition.get("status", ""))
    said = condition.get("message") or condition.get("reason") or ("ready" if ready else "waiting")
    return ObjectRow(
        rank=VERDICTS[ready if error is None else False].rank,
        kind=ref.kind,
        name=f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name,
        verdict=VERDICTS[ready],
        next=_moment(due),
        where=_where(document, ref, output_dir),
        status=said if error is None else error.message,
        remedy="-" if error is None else error.hint or "-",
        manifest=manifest or "-",
    )


def _where(document: Document, ref: ObjectRef, output_dir: str) -> str:
    status = member(document, "status")
    role = role_of(ref.group_kind)
    if role == "sync":
        bound = member(status, "binding").get("name")
        return f"{output_dir.rstrip('/')}/{ref.namespace}/{bound}/" if bound and output_dir else "-"
    if role == "delivery":
        return ", ".join(each["path"] for each in status.get("targets") or ()) or "-"
    if role == "push":
        return ", ".join(sorted(status.get("syncedPushSecrets") or ())) or "-"
    return ", ".join(status.get("provisionedNamespaces") or ()) or "-"


def _moment(due: float | None) -> str:
    if due is None:
        return "on change"
    return f"{datetime.fromtimestamp(due, UTC).time().isoformat('seconds')}Z"


def summary(
    counts: Mapping[Verb, int], *, failed: int, problems: Iterable[HomeProblem], seconds: float, writes: bool
) -> str:
    """One line about a pass; without an output folder nothing is `created`."""
    created, changed, deleted = (counts[verb] for verb in (Verb.CREATE, Verb.UPDATE, Verb.DELETE))
    done = f"{created} created, {changed} changed, {deleted} deleted"
    return (
        f"{done if writes else f'{created + changed} not written'}, {failed} failed, "
        f"{sum(each.problem.fatal for each in problems)} invalid in {seconds:.1f} s"
    )


def print_objects(rows: Iterable[ObjectRow], *, wide: bool = False) -> None:
    """Print the table on stdout, what fails first; a wide one has manifests, and cuts nothing."""
    columns = (*COLUMNS, MORE) if wide else COLUMNS
    shown = [
        Row(
            (row.kind, row.name, row.verdict.text, row.next, row.where, row.status, row.remedy)
            + ((row.manifest,) if wide else ()),
            style=VERDICTS[False].style if row.fails else row.verdict.style,
            is_usual=row.rank == VERDICTS[True].rank,
        )
        for row in sorted(rows, key=lambda row: row[:3])
    ]
    print_table(columns, shown, full=wide)
