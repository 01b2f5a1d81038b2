"""The document of `/status` and `syncret status`: a row for each object and store, without secret values."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import DELIVERY, SHOWN, SHOWN_ON_HOST, Kind
from syncret.config.version import version
from syncret.daemon.core.conditions import INVALID_MANIFEST, stamp
from syncret.daemon.core.delivery.summary import DeliverySummary, summary_of
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.ops.failures import InvalidManifest, count_failing, invalid_objects
from syncret.daemon.ops.view import LastError, ObjectView, Running, View, view_of

API_VERSION: Final = "syncret.dev/v1alpha1"
ROWS_PER_TURN: Final = 200
"""Rows encoded in one turn of the event loop."""


class LastFailure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The error that the object has now."""

    at: str
    message: str
    hint: str = ""


class ManifestProblem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem of a manifest; its last valid version stays in force."""

    file: str
    line: int
    path: str
    message: str
    hint: str = ""
    severity: str


class ObjectStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One object. `ready` is None before its first run; `nextDue` is None if only a change makes it run."""

    kind: str
    namespace: str
    name: str
    ready: bool | None
    reason: str
    message: str
    last_good: str | None
    next_due: str | None
    failures: int
    last_failure: LastFailure | None
    unanswered_seconds: float | None
    """Of a store: for how long objects have waited for it without an answer."""
    unanswered_by: str | None = None
    """The server that they wait for, if that is known."""
    unreachable: str | None = None
    """Of a store that does not answer: its server, and why."""
    manifest_problem: ManifestProblem | None = None
    """Why its manifest has no effect; what it said last, if anything, stays in force."""
    manifest: str | None = None
    """File and line of its manifest; None if no file defines it."""
    running_seconds: float | None = None
    """For how long its run has gone on, if that is more than a few seconds."""
    would_write: tuple[str, ...] = ()
    """What its last run would have written, if the daemon only observes."""
    delivery: DeliverySummary | None = None
    """Of a Delivery: which set is live, and how the last reload went."""


class Silence(NamedTuple):
    """For how long objects have waited for a store without an answer; the server, if that is known."""

    seconds: float
    server: str


class QueueStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many objects are due, running and scheduled, and how long the oldest has been due."""

    ready: int
    running: int
    scheduled: int
    oldest_overdue_seconds: float


class Summary(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="apiVersion", tag=API_VERSION
):
    """The head of the document; stores and objects follow it."""

    kind: str = "DaemonStatus"
    version: str
    uptime_seconds: float
    ready: bool
    failing: int
    queue: QueueStatus
    problems: tuple[ManifestProblem, ...]
    observing: str = ""
    """Why nothing is written; empty: writes are made."""
    cache: "CacheStatus | None" = None
    """None: there is none."""


class CacheStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The offline cache; `problem` says why it cannot be used, or written."""

    usable: bool
    problem: str
    entries: int
    bytes: int
    oldest_seconds: float | None
    """Age of the value whose confirmation by its store is the oldest."""
    served: int
    """Objects whose values no store could confirm when that was tried last."""
    restored: int
    rejected: int


def summary(view: View) -> Summary:
    """The state of the daemon as a whole."""
    engine = view.running.engine
    queue = engine.queue.stats()
    return Summary(
        version=version(),
        uptime_seconds=round(asyncio.get_running_loop().time() - view.started, 3),
        ready=engine.first_pass.is_set(),
        failing=count_failing(view),
        queue=QueueStatus(
            ready=queue.ready,
            running=queue.running,
            scheduled=queue.scheduled,
            oldest_overdue_seconds=round(queue.oldest, 3),
        ),
        problems=tuple(_problem(each.source, each.problem) for each in view.problems),
        observing=view.observing(),
        cache=_cache(view),
    )


def _cache(view: View) -> CacheStatus | None:
    if view.offline is None:
        return None
    stats = view.offline.stats()
    return CacheStatus(
        usable=stats.usable,
        problem=stats.problem,
        entries=stats.entries,
        bytes=stats.size,
        oldest_seconds=None if stats.oldest is None else round(stats.oldest, 3),
        served=stats.serving,
        restored=stats.restored,
        rejected=stats.rejected,
    )


def _problem(file: str, problem: Problem) -> ManifestProblem:
    return ManifestProblem(
        file=file,
        line=problem.line,
        path=problem.path,
        message=problem.message,
        hint=problem.hint,
        severity=problem.severity,
    )


def object_status(
    ref: ObjectRef,
    newest: ObjectView,
    *,
    due: float | None,
    failures: int,
    failure: LastError | None,
    silence: Silence | None,
    manifest: str | None,
    invalid: InvalidManifest | None,
) -> ObjectStatus:
    """The row of one object."""
    condition = newest.ready_condition
    good = newest.good_since
    return ObjectStatus(
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        ready=newest.ready,
        reason=condition.reason if condition is not None else "",
        message=condition.message if condition is not None else "",
        last_good=stamp(good) if good is not None else None,
        next_due=stamp(due) if due is not None else None,
        failures=failures,
        last_failure=LastFailure(stamp(failure.at), failure.message, failure.hint) if failure else None,
        unanswered_seconds=None if silence is None else round(silence.seconds, 3),
        unanswered_by=None if silence is None else silence.server or None,
        unreachable=newest.unreachable,
        manifest_problem=None if invalid is None else _problem(invalid.file, invalid.problem),
        manifest=manifest,
    )


def refused_status(ref: ObjectRef, invalid: InvalidManifest) -> ObjectStatus:
    """The row of an object that does not exist, because its manifest is invalid."""
    return ObjectStatus(
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        ready=False,
        reason=INVALID_MANIFEST,
        message=str(invalid.problem),
        last_good=None,
        next_due=None,
        failures=0,
        last_failure=None,
        unanswered_seconds=None,
        manifest_problem=_problem(invalid.file, invalid.problem),
        manifest=invalid.place,
    )


async def pieces(view: View) -> AsyncGenerator[bytes, None]:
    """The document as JSON, in pieces: ten thousand objects must not block the event loop."""
    yield msgspec.json.encode(summary(view))[:-1] + b',"stores":['
    invalid = invalid_objects(view.problems)
    async for piece in _rows(view.running, [kind for kind in SHOWN if kind.role == "store"], invalid):
        yield piece
    yield b'],"objects":['
    async for piece in _rows(view.running, [kind for kind in SHOWN_ON_HOST if kind.role != "store"], invalid):
        yield piece
    yield b'],"releases":['
    if view.releases():
        from syncret.daemon.ops import releases  # few hosts have any

        async for piece in releases.pieces(view):
            yield piece
    yield b"]}\n"


def _summary(stored: StoredObject) -> DeliverySummary | None:
    from syncret.config.resources.delivery.delivery import Delivery  # few hosts have any

    try:
        return summary_of(stored.as_type(Delivery))
    except msgspec.ValidationError:
        return None  # its condition says what is wrong with it


async def _rows(
    running: Running, kinds: list[Kind], invalid: Mapping[ObjectRef, InvalidManifest]
) -> AsyncGenerator[bytes, None]:
    rows: list[bytes] = []
    comma = b""
    for row in _each(running, kinds, invalid):
        rows.append(msgspec.json.encode(row))
        if len(rows) == ROWS_PER_TURN:
            yield comma + b",".join(rows)
            comma = b","
            rows.clear()
            await asyncio.sleep(0)
    if rows:
        yield comma + b",".join(rows)


def _each(
    running: Running, kinds: list[Kind], invalid: Mapping[ObjectRef, InvalidManifest]
) -> Iterator[ObjectStatus]:
    """The objects of some kinds, and those of invalid manifests of these kinds."""
    engine, memory, sessions = running.engine, running.context.memory, running.context.sessions
    for kind in kinds:
        for stored in list(running.inventory.list(kind.group_kind)):
            ref = stored.ref
            unreported, unanswered = engine.unreported(ref), engine.queue.unanswered(str(ref))
            row = object_status(
                ref,
                view_of(stored, unreported),
                due=engine.due(ref),
                failures=engine.failures(ref),
                failure=unreported or memory.failure(ref),
                manifest=running.context.manifest_place(ref),
                silence=None if unanswered is None else Silence(unanswered, sessions.waits_for(ref)),
                invalid=invalid.get(ref),
            )
            held, seconds = engine.held_back(ref), engine.queue.running_for(ref)
            if held or seconds is not None:
                more = None if seconds is None else round(seconds, 3)
                row = msgspec.structs.replace(row, would_write=tuple(map(str, held)), running_seconds=more)
            if kind == DELIVERY:
                row = msgspec.structs.replace(row, delivery=_summary(stored))
            yield row
        for ref, problem in invalid.items():
            if ref.group_kind == kind.group_kind and running.inventory.get(ref) is None:
                yield refused_status(ref, problem)
