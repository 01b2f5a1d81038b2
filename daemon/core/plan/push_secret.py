"""PushSecret, decided without any I/O: what is pushed to and deleted at each store, and what is reported.

The order is `next_step`, `needs`, `decide`, `report`; between them the reconciler reads, looks up and writes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import Document
from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.push_secret import PushSecret, PushSecretSpec, PushSecretStatus
from syncret.daemon.core import conditions, push_entries
from syncret.daemon.core.assemble import Transform
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan.actions import (
    Event,
    Report,
    Verdict,
    condition_message,
    failed_event,
    last_error,
)
from syncret.daemon.core.plan.push_operations import (
    Done,
    StoreOperations,
    account_after,
    delete_error,
    deletions,
    push_error,
)
from syncret.daemon.core.push_entries import Push, Source, Store, StoreEntries, rendered, store_entries
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.schedule import refresh
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.pushes import RemoteTarget
from syncret.providers.work import Work

FINALIZER: Final = "pushsecret.externalsecrets.io/finalizer"
ERRORED: Final = "Errored"
SYNCED: Final = "Synced"
SOURCE_DELETED: Final = "SourceDeleted"
NO_SOURCE: Final = "could not get source secret"


class SourceMissing(Malformed):
    """The Secret that the PushSecret names does not exist."""


class PushObserved(Struct, frozen=True, kw_only=True):
    """The input of the decision on a PushSecret, and the errors of reading it."""

    sources: tuple[Source, ...] = ()
    source_error: SyncError | None = None
    stores: tuple[Store, ...] = ()
    """The stores to push to: those of another controller, or that are being deleted, are left out."""
    store_error: SyncError | None = None


class PushNeeds(Struct, frozen=True, kw_only=True):
    """The entries of each store, and which of them must be looked up before it is known what is pushed."""

    stores: tuple[StoreEntries, ...] = ()
    lookups: Mapping[Store, tuple[RemoteTarget, ...]] = {}
    unrendered: SyncError | None = None
    """Why the template does not render."""


Existing: TypeAlias = Mapping[Store, Mapping[RemoteTarget, bool | SyncError]]
"""Whether each entry that was looked up exists; after an error a store is asked no more."""


class PushPlan(Struct, frozen=True, kw_only=True):
    """All of a run: `verdict` is that of a run in which every operation succeeds."""

    verdict: Verdict
    operations: tuple[StoreOperations, ...] | None = None
    """None: nothing is done at any store, so all that stands there still does."""
    delete_failed: str = "Failed to Delete Secrets from Provider"
    """Begins the message if a deletion fails."""
    releases: bool = False
    """The PushSecret is being deleted, and may go once all is done."""


class SetFinalizers(Struct, frozen=True):
    """The finalizers that the object must have before anything else is done."""

    finalizers: tuple[str, ...]


class Sleep(Struct, frozen=True):
    """Nothing is to be done until that time, or (None) until a change."""

    next_due: float | None


class Fetch(Struct, frozen=True):
    """A push is due: read the sources and the stores."""


Step: TypeAlias = SetFinalizers | Sleep | Fetch | PushPlan


# -------------------------------------------------------------------------------------------- what to do next
def next_step(resource: PushSecret, now: float, *, refresh_requested: bool) -> Step:
    """The next step by the object alone, before anything else is read."""
    spec, metadata = resource.spec, resource.metadata
    deletes = spec.deletion_policy == "Delete"
    is_held = FINALIZER in metadata.finalizers
    if metadata.deletion_timestamp:
        everything = deletions(resource.status.synced_push_secrets, {}) if deletes and is_held else ()
        return PushPlan(verdict=Verdict(), operations=tuple(everything), releases=True)
    if is_held != deletes:
        others = tuple(each for each in metadata.finalizers if each != FINALIZER)
        return SetFinalizers((*others, FINALIZER) if deletes else others)
    try:
        parse_duration(spec.refresh_interval)
    except DurationError as error:
        return _errored(Malformed(str(error), hint="write a duration such as 1h").at("spec.refreshInterval"))
    if not refresh_requested and not refresh.is_push_due(resource, now):
        return Sleep(refresh.next_push_due(resource, now))
    try:
        push_entries.check_store_refs(spec)
    except SyncError as error:
        return _errored(error)
    return Fetch()


# ----------------------------------------------------------------------------------------- what must be known
def needs(
    resource: PushSecret,
    observed: PushObserved,
    work: Work,
    *,
    render: Rendering | None,
    transform: Transform,
) -> PushNeeds:
    """The entries of each store; none where something is in the way. Templates are rendered here alone.

    Raises Malformed where the template does not render.
    """
    if obstacle(resource, observed) is not None:
        return PushNeeds()
    template, sources = resource.spec.template, observed.sources
    if template is not None and render is not None:
        sources = tuple(rendered(template, source, render, work) for source in sources)
    stores = tuple(
        store_entries(resource.spec, sources, store, work, transform=transform) for store in observed.stores
    )
    if resource.spec.update_policy != "IfNotExists":
        return PushNeeds(stores=stores)
    lookups = {each.store: tuple(dict.fromkeys(push.entry.target for push in each.pushes)) for each in stores}
    return PushNeeds(stores=stores, lookups=lookups)


# ------------------------------------------------------------------------------------------------ what to do
def decide(resource: PushSecret, observed: PushObserved, needed: PushNeeds, existing: Existing) -> PushPlan:
    """The operations at each store. Entries that no source wants are deleted; none if no source was found."""
    hindered = obstacle(resource, observed)
    if hindered is not None:
        return hindered
    if needed.unrendered is not None:  # as with the operator no condition is written
        return PushPlan(verdict=Verdict(ok=False, error=needed.unrendered))
    verdict = Verdict(reason=SYNCED, message=_synced_message(resource))
    if not observed.sources:
        return PushPlan(verdict=verdict)
    stores = [_without_existing(resource.spec, each, existing.get(each.store)) for each in needed.stores]
    operations = {
        str(each.store): StoreOperations(
            store=StoreName(each.store.kind, each.store.name),
            is_selected=True,
            pushes=each.pushes,
            error=each.error,
        )
        for each in stores
    }
    if resource.spec.deletion_policy == "Delete":
        for each in deletions(resource.status.synced_push_secrets, operations):
            operations[str(each.store)] = each
    return PushPlan(operations=tuple(operations.values()), verdict=verdict)


def obstacle(resource: PushSecret, observed: PushObserved) -> PushPlan | None:
    """The plan if nothing can be pushed: that of the first thing in the way."""
    if isinstance(observed.source_error, SourceMissing):
        return _source_missing(resource, observed.source_error)
    if observed.source_error is not None:
        return _errored(observed.source_error, NO_SOURCE)
    if observed.store_error is not None:
        return _errored(observed.store_error)
    if not observed.stores:
        return PushPlan(verdict=Verdict())  # none of them is this daemon's
    try:
        push_entries.check_selectors(resource.spec, observed.stores)
    except SyncError as error:
        return _errored(error)
    return None


def _source_missing(resource: PushSecret, error: SourceMissing) -> PushPlan:
    """The Secret is gone: with deletionPolicy Delete, so is what was pushed from it."""
    pushed = resource.status.synced_push_secrets
    if resource.spec.deletion_policy == "Delete" and pushed:
        return PushPlan(
            operations=tuple(deletions(pushed, {})),
            delete_failed="failed to cleanup provider secrets",
            verdict=Verdict(
                ok=False,
                reason=SOURCE_DELETED,
                message="source secret deleted; provider secrets cleaned up",
            ),
        )
    before = conditions.find(resource.status.conditions)
    if (
        before is not None
        and before.reason == SOURCE_DELETED
        and resource.status.synced_resource_version == refresh.version_of(resource.metadata)
    ):
        return PushPlan(verdict=Verdict())  # until the source, or this object, changes
    return _errored(error, NO_SOURCE)


def _without_existing(
    spec: PushSecretSpec, entries: StoreEntries, existing: Mapping[RemoteTarget, bool | SyncError] | None
) -> StoreEntries:
    """With updatePolicy IfNotExists existing entries are unchanged, also those that this run has pushed."""
    if existing is None:
        return entries
    pushes: list[Push] = []
    made: set[RemoteTarget] = set()
    for push in entries.pushes:
        target = push.entry.target
        answer = target in made or existing[target]
        if isinstance(answer, SyncError):
            error = answer.below(push_entries.field_of_push(spec, push.entry))
            return StoreEntries(store=entries.store, pushes=tuple(pushes), error=error)
        pushes.append(Push(push.entry, None) if answer else push)
        made |= {target, RemoteTarget(target.remote_key)}
    return StoreEntries(store=entries.store, pushes=tuple(pushes), error=entries.error)


def _errored(error: SyncError, message: str = "") -> PushPlan:
    return PushPlan(verdict=_failed(error, message))


def _failed(error: SyncError, message: str = "") -> Verdict:
    return Verdict(ok=False, reason=ERRORED, message=message or str(error), error=error)


def _synced_message(resource: PushSecret) -> str:
    unchanged = ". Existing secrets in providers unchanged."
    keeps = resource.spec.update_policy == "IfNotExists"
    return f"PushSecret synced successfully{unchanged if keeps else ''}"


# ------------------------------------------------------------------------------------------- what to report
def report(resource: PushSecret, plan: PushPlan, done: Sequence[Done], now: float) -> Report:
    """The report of the run. The account in the status has all entries that are at the stores."""
    verdict, status = _verdict(plan, done), resource.status
    if plan.operations is not None:
        account = account_after(status.synced_push_secrets, plan.operations, done)
        status = msgspec.structs.replace(status, synced_push_secrets=account)
    if verdict.reason:
        condition = conditions.ready(
            ConditionStatus, status=verdict.ok, reason=verdict.reason, message=condition_message(verdict)
        )
        found = conditions.put(status.conditions, condition, now=now)
        status = msgspec.structs.replace(status, conditions=found)
    next_due = None
    if verdict.reason == SYNCED:
        status = msgspec.structs.replace(
            status,
            refresh_time=conditions.stamp(now),
            synced_resource_version=refresh.version_of(resource.metadata),
        )
        next_due = refresh.next_push_due(msgspec.structs.replace(resource, status=status), now)
    is_released = plan.releases and verdict.error is None
    return Report(
        status=None if status == resource.status or is_released else _document(status),
        events=tuple(_events(verdict, is_news=_is_news(resource.status, status))),
        last_error=None if verdict.error is None else last_error(verdict.error, now),
        failure=verdict.error,
        next_due=next_due,
    )


def _verdict(plan: PushPlan, done: Sequence[Done]) -> Verdict:
    error = push_error(done)
    if error is not None:
        return _failed(error, f"set secret failed: {error}")
    error = delete_error(done)
    if error is not None:
        return _failed(error, f"{plan.delete_failed}: {error}")
    return plan.verdict


def _is_news(before: PushSecretStatus, after: PushSecretStatus) -> bool:
    """Whether a run changed more than the time of its status."""
    return msgspec.structs.replace(after, refresh_time=before.refresh_time) != before


def _events(verdict: Verdict, *, is_news: bool) -> Iterator[Event]:
    if verdict.error is not None:
        yield failed_event(ERRORED, verdict)
    elif verdict.reason == SOURCE_DELETED or (verdict.reason == SYNCED and is_news):
        yield Event(verdict.reason, verdict.message)


def _document(status: PushSecretStatus) -> Document:
    document: Document = msgspec.to_builtins(status)
    for entries in document.get("syncedPushSecrets", {}).values():
        for entry in entries.values():
            entry.setdefault("conversionStrategy", "None")  # as the CRD fills it in, in every home
    return document
