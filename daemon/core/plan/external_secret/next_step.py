"""The next step for an ExternalSecret, from its spec, its status and what is known without its provider."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Final, TypeAlias

from msgspec import Struct

from syncret.config.meta import Document, member
from syncret.config.resources.external_secret import ExternalSecret, GeneratorRef
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.daemon.core import needs
from syncret.daemon.core.needs import Generate, Need, StoreName
from syncret.daemon.core.ownership import MANAGED, Refusal, controlled_by
from syncret.daemon.core.plan.actions import DELETED, Action, Event, Options, Verb, Verdict
from syncret.daemon.core.plan.secret_store import (
    GeneratorLookup,
    PendingDependency,
    StoreLookup,
    belongs_to_another_controller,
    check_usable,
)
from syncret.daemon.core.schedule.refresh import is_due, next_due, syncs_once
from syncret.daemon.core.secret import field_manager, is_written_by
from syncret.daemon.core.target import form_of
from syncret.providers.errors import SyncError, bare

FINALIZER: Final = "externalsecrets.external-secrets.io/externalsecret-cleanup"


class Observed(Struct, frozen=True, kw_only=True):
    """The input of the decision beside the ExternalSecret; its reconciler fills it in."""

    stores: Mapping[StoreName, StoreLookup] = {}
    generators: Mapping[GeneratorRef, GeneratorLookup] = {}
    namespace_labels: Mapping[str, str] = {}
    refresh_requested: bool = False
    unchanged: bool = False
    """The home knows without a read that the target is as it was written."""
    settled: bool = False
    """The target is unchanged since a run found it in order: it is read only if something else is wanted."""
    target_was_read: bool = False
    target: Document | None = None
    may_mark: bool = False
    """Whether the target may get our label although it may have another owner."""
    former: Sequence[Document] = ()
    """Other Secrets with the label of this ExternalSecret: its target had another name once."""


class Ignore(Struct, frozen=True):
    """The object belongs to another controller: nothing is written."""


class AddFinalizer(Struct, frozen=True):
    """The object gets our finalizer, so that it is cleaned up before it is gone."""


class CleanUp(Struct, frozen=True):
    """The object is being deleted: carry out these actions, then drop the finalizer."""

    actions: tuple[Action, ...] = ()


class ReadTarget(Struct, frozen=True):
    """The target must be read, unless the home knows that it is as it was written: then nothing is due.

    If a sync is due, a settled target need not be read.
    """

    unless_unchanged: bool = False
    unless_settled: bool = False


class MarkTarget(Struct, frozen=True):
    """The target exists without the label for managed objects: it gets it before any provider is called."""

    action: Action


class Sleep(Struct, frozen=True):
    """Nothing is to be done until that time, or (None) until a change."""

    next_due: float | None


class Wait(Struct, frozen=True):
    """A store is being validated; the result requeues the object."""


class Conclude(Struct, frozen=True):
    """The verdict is known without fetching anything."""

    verdict: Verdict


class Fetch(Struct, frozen=True):
    """Fetch this; the other needs cannot be fetched, and have their errors already."""

    needs: tuple[Need, ...]
    failed: Mapping[Need, SyncError] = {}


Preparation: TypeAlias = AddFinalizer | ReadTarget | MarkTarget
"""After these the next step is asked for again."""

Step: TypeAlias = Preparation | Ignore | CleanUp | Sleep | Wait | Conclude | Fetch


def next_step(resource: ExternalSecret, observed: Observed, now: float, options: Options) -> Step:
    """The one thing to do now."""
    if resource.metadata.deletion_timestamp:
        return _clean_up(resource, observed, options)
    is_needed = options.finalizer_always or resource.spec.target.deletion_policy == "Delete"
    if is_needed and FINALIZER not in resource.metadata.finalizers:
        return AddFinalizer()
    named = [*observed.stores.values(), *observed.generators.values()]
    if any(belongs_to_another_controller(each, options) for each in named):
        return Ignore()
    if resource.spec.secret_store_ref.kind == CLUSTER_SECRET_STORE.kind and not options.cluster_stores:
        return Ignore()
    if resource.spec.target.manifest is not None and not options.allow_generic_targets:
        return Conclude(_GENERIC_TARGETS_DISABLED)
    return _sync(resource, observed, now, options)


_GENERIC_TARGETS_DISABLED: Final = Verdict(
    ok=False,
    reason="SecretSyncedError",
    message="invalid generic target",
    error=Refusal(
        "invalid generic target",
        "generic targets are disabled",
        hint="set allowGenericTargets, or leave target.manifest out",
    ),
)


def _clean_up(resource: ExternalSecret, observed: Observed, options: Options) -> Step:
    """With deletionPolicy Delete, delete the target that it controls; one of another kind by its name."""
    target, generic = resource.spec.target, resource.spec.target.manifest is not None
    if target.deletion_policy != "Delete" or (generic and not options.allow_generic_targets):
        return CleanUp()
    if not observed.target_was_read:
        return ReadTarget()
    found = observed.target
    if found is None or not (generic or controlled_by(found, resource.metadata.uid)):
        return CleanUp()
    return CleanUp((delete_target(resource, found),))


def delete_target(resource: ExternalSecret, found: Document, *, refused: Verdict | None = None) -> Action:
    """The deletion of the target, in the version that was read."""
    ref = form_of(resource).ref(resource)
    event = Event(DELETED, f"{ref} deleted")
    return Action(verb=Verb.DELETE, ref=ref, before=found, event=event, refused=refused)


def _sync(resource: ExternalSecret, observed: Observed, now: float, options: Options) -> Step:
    form, spread = form_of(resource), options.spread
    due = observed.refresh_requested or is_due(resource, now, spread=spread)
    if not due and observed.unchanged:
        return Sleep(next_due(resource, now, spread=spread))
    if not observed.target_was_read and not (due and observed.settled):
        return ReadTarget(unless_unchanged=not due, unless_settled=due)
    if _lacks_mark(resource, observed):
        return MarkTarget(_mark(resource, observed.target or {}))
    if not due and form.is_valid(resource, observed.target):
        return Sleep(next_due(resource, now, spread=spread))
    if _is_synced_already(resource, observed):
        return Conclude(Verdict(reason=form.wording.synced, message=SYNCED, bound=form.binding(resource)))
    return _fetch(resource, observed, options)


SYNCED: Final = "secret synced"


def _lacks_mark(resource: ExternalSecret, observed: Observed) -> bool:
    if observed.target is None or resource.spec.target.manifest is not None or not observed.may_mark:
        return False
    return member(observed.target, "metadata", "labels").get(MANAGED) != "true"


def _mark(resource: ExternalSecret, target: Document) -> Action:
    marked = deepcopy(target)
    marked["metadata"].setdefault("labels", {})[MANAGED] = "true"
    return Action(
        verb=Verb.UPDATE,
        ref=form_of(resource).ref(resource),
        before=target,
        document=marked,
        field_manager=field_manager(resource),
    )


def _is_synced_already(resource: ExternalSecret, observed: Observed) -> bool:
    """Whether an earlier run wrote the target and ended before it could write the status.

    A target that is synced once and intact is taken as it is: new values would replace passwords in use.
    """
    return (
        syncs_once(resource)
        and not resource.status.synced_resource_version
        and not observed.refresh_requested
        and observed.target is not None
        and _wrote(resource, observed.target)
    )


def _wrote(resource: ExternalSecret, target: Document) -> bool:
    """Whether this very ExternalSecret wrote the target, which is still as it was written."""
    if resource.spec.target.creation_policy == "Owner":
        uid = resource.metadata.uid
        return controlled_by(target, uid) and form_of(resource).is_valid(resource, target)
    return resource.spec.target.manifest is None and is_written_by(resource, target)


def _fetch(resource: ExternalSecret, observed: Observed, options: Options) -> Step:
    asked = needs.needs(resource.spec)
    unusable: dict[StoreName, SyncError] = {}
    for name in dict.fromkeys(need.store for need in asked if not isinstance(need, Generate)):
        try:
            check_usable(
                name,
                observed.stores.get(name),
                namespace=resource.metadata.namespace,
                labels=observed.namespace_labels,
                options=options,
                ready=options.require_ready_stores,
            )
        except PendingDependency:
            return Wait()
        except SyncError as error:
            unusable[name] = bare(error)
    if not unusable:
        return Fetch(asked)
    failed: dict[Need, SyncError] = {
        need: unusable[need.store]
        for need in asked
        if not isinstance(need, Generate) and need.store in unusable
    }
    return Fetch(tuple(need for need in asked if need not in failed), failed)
