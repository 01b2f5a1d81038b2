"""Decides what an ExternalSecret writes, by its policies, its target and the fetched values; and reports."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from syncret.config.durations import parse_duration, span
from syncret.config.meta import Document, member, ref_of
from syncret.config.resources.external_secret import (
    Binding,
    ExternalSecret,
    ExternalSecretCondition,
    ExternalSecretStatus,
)
from syncret.daemon.core import conditions
from syncret.daemon.core.assemble import Transform, assemble, unmatched
from syncret.daemon.core.constraints import verdict as constraints
from syncret.daemon.core.needs import Answer, Need
from syncret.daemon.core.ownership import CREATED_BY, Refusal, created_by
from syncret.daemon.core.plan.actions import (
    DELETED,
    Action,
    Event,
    Options,
    Report,
    Verb,
    Verdict,
    condition_message,
    last_error,
)
from syncret.daemon.core.plan.external_secret.next_step import SYNCED, Observed, delete_target
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.schedule import refresh
from syncret.daemon.core.secret import field_manager, pay_for_keys, within_immutable
from syncret.daemon.core.target import form_of
from syncret.providers.errors import Malformed, SyncError, bare
from syncret.providers.work import Work


class Plan(Struct, frozen=True, kw_only=True):
    """What to write, and what to report once it is written."""

    verdict: Verdict
    actions: tuple[Action, ...] = ()
    origins: Mapping[str, str] = {}
    """The entry of the spec that each key came from."""
    missing: tuple[str, ...] = ()
    """The entries that do not exist at the provider."""
    constraint_verdict: constraints.Verdict | None = None
    """The verdict on the fetched values; None: there are no constraints, or nothing was fetched."""
    unconfirmed: SyncError | None = None
    """Why some values are from the offline cache; None: all are from their stores."""


Decision: TypeAlias = tuple[tuple[Action, ...], Verdict]

VERBS: Final[Mapping[str, tuple[Verb | None, Verb | None]]] = {
    "Owner": (Verb.CREATE, Verb.UPDATE),
    "Orphan": (Verb.CREATE, Verb.UPDATE),
    "CreateOrMerge": (Verb.CREATE, Verb.UPDATE),
    "Merge": (None, Verb.UPDATE),
    "None": (None, None),
}
"""By creationPolicy: the write if there is no target, and if there is one."""


def decide(
    resource: ExternalSecret,
    observed: Observed,
    fetched: Mapping[Need, Answer],
    work: Work,
    *,
    render: Rendering | None,
    transform: Transform,
) -> Plan:
    """The plan. A template requires `render`, which is given if the resource has one."""
    try:
        found = assemble(resource.spec, fetched, work, transform=transform)
        pay_for_keys(found.data, work, "spec.target")
        checked = constraints.check(resource.metadata.annotations, found.data, work)
    except SyncError as error:
        return Plan(verdict=_not_fetched(resource, bare(error)))
    actions: tuple[Action, ...]
    if checked is not None and checked.is_blocked:
        actions, verdict = (), _blocked(resource, observed, checked)
    elif found.data or resource.spec.target.deletion_policy == "Merge":
        actions, verdict = _write(resource, observed, found.data, render)
    else:
        actions, verdict = _without_data(resource, observed)
    return Plan(
        actions=actions,
        verdict=verdict,
        origins=found.origins,
        missing=tuple(found.missing),
        constraint_verdict=checked,
    )


def not_decided(resource: ExternalSecret, observed: Observed, error: SyncError) -> Plan:
    """The plan where templates were stopped because they took too long."""
    if resource.spec.target.template is None:
        return Plan(verdict=_not_fetched(resource, error))
    error = error if error.field else error.below("spec.target.template")
    return Plan(
        verdict=_failed(resource, form_of(resource).wording.unrendered, error, _bound(resource, observed))
    )


def from_cache(plan: Plan, age: float, error: SyncError) -> Plan:
    """The plan with values from the cache, the oldest of that age in seconds; it is tried again."""
    message = f"{plan.verdict.message}, from the cache, {span(age)} old: {error.message}"
    verdict = replace(plan.verdict, message=message)
    return replace(plan, verdict=verdict, unconfirmed=error)


def withdrawal(resource: ExternalSecret, observed: Observed) -> tuple[Action, ...]:
    """Withdraw a target whose values are too old; a Secret with another owner is left as it is."""
    if resource.spec.target.creation_policy not in ("Owner", "Orphan") or observed.target is None:
        return ()
    action = delete_target(resource, observed.target)
    text = f"{action.ref} withdrawn: no store could confirm its values for longer than they may be used"
    return (replace(action, event=Event("Withdrawn", text, warning=True)),)


def _blocked(resource: ExternalSecret, observed: Observed, checked: constraints.Verdict) -> Verdict:
    """The verdict if constraints block the write: the target stays until the store has an allowed value."""
    error = Malformed(checked.message, hint="correct the value in the store, or the constraint")
    message = "fetched values do not satisfy their constraints"
    return _failed(resource, message, error, _bound(resource, observed))


def _without_data(resource: ExternalSecret, observed: Observed) -> Decision:
    """The provider has nothing: keep what is there, or delete what we own."""
    words, target = form_of(resource).wording, resource.spec.target
    match target.deletion_policy, target.creation_policy:
        case "Retain", _:
            return (), _done(
                words.synced, f"secret retained due to DeletionPolicy=Retain{unmatched(resource.spec)}"
            )
        case _, "Owner":
            refused = _failed(resource, words.not_deleted)
            found = observed.target
            actions = () if found is None else (delete_target(resource, found, refused=refused),)
            return actions, _done(words.deleted, "secret deleted due to DeletionPolicy=Delete")
        case _, policy:
            refusal = Refusal(
                words.not_deleted, f"creationPolicy={policy} is not Owner", hint="only Owner may delete"
            )
            return (), _failed(resource, refusal.message, refusal)


def _write(
    resource: ExternalSecret, observed: Observed, data: Mapping[str, bytes], render: Rendering | None
) -> Decision:
    """Write the target as creationPolicy says; one that must not be written is bound nevertheless."""
    former = _delete_former(resource, observed.former)
    try:
        actions, verdict = _write_target(resource, observed, data, render)
    except Refusal as refusal:
        return former, _failed(resource, refusal.message, refusal, _bound(resource, observed))
    except SyncError as error:
        unrendered = form_of(resource).wording.unrendered
        return former, _failed(resource, unrendered, bare(error), _bound(resource, observed))
    return (*former, *actions), verdict


def _delete_former(resource: ExternalSecret, former: Sequence[Document]) -> tuple[Action, ...]:
    """Delete every Secret with the label of this owner but its target, whose name has changed."""
    if resource.spec.target.creation_policy != "Owner" or resource.spec.target.manifest is not None:
        return ()
    label = created_by(resource.metadata.namespace, resource.metadata.name)
    refused = _failed(resource, "could not delete orphaned secrets")
    return tuple(
        Action(
            verb=Verb.DELETE,
            ref=ref_of(found),
            before=found,
            event=Event(DELETED, f"{ref_of(found)} deleted"),
            refused=refused,
        )
        for found in former
        if member(found, "metadata", "labels").get(CREATED_BY) == label
    )


def _write_target(
    resource: ExternalSecret, observed: Observed, data: Mapping[str, bytes], render: Rendering | None
) -> Decision:
    """Raises Refusal or SyncError where the target must not or cannot be made."""
    form, found = form_of(resource), observed.target
    policy, generic = resource.spec.target.creation_policy, resource.spec.target.manifest is not None
    verb = VERBS[policy][found is not None]
    if verb is None and not generic:
        return (), _not_written(resource)
    desired = form.desired(resource, found, data, render)
    if verb is None:  # a target of another kind is rendered even so, to report a bad template
        return (), _not_written(resource)
    done = _done(form.wording.synced, SYNCED, form.binding(resource))
    if verb is Verb.UPDATE and found is not None:
        return _update(resource, found, desired, done)
    ref = form.ref(resource)
    create = Action(
        verb=verb,
        ref=ref,
        document=desired,
        field_manager=field_manager(resource),
        event=Event("Created", f"{ref} created"),
        refused=_failed(resource, "could not update secret"),
    )
    return (create,), done


def _update(resource: ExternalSecret, found: Document, desired: Document, done: Verdict) -> Decision:
    """The target with what differs; of an immutable Secret only metadata can be written."""
    ref, whole = form_of(resource).ref(resource), True
    if found.get("immutable") and resource.spec.target.manifest is None:
        desired, whole = within_immutable(found, desired)
    update = Action(
        verb=Verb.UPDATE,
        ref=ref,
        before=found,
        document=desired,
        field_manager=field_manager(resource),
        event=Event("Updated", f"{ref} updated") if whole else None,
        refused=_failed(resource, "could not update secret", bound=done.bound),
    )
    actions = () if desired == found else (update,)
    if whole:
        return actions, done
    refusal = Refusal("could not update secret, target is immutable", "its data would have to change")
    return actions, _failed(resource, refusal.message, refusal, done.bound)


def _not_written(resource: ExternalSecret) -> Verdict:
    words = form_of(resource).wording
    if resource.spec.target.creation_policy == "Merge":
        return _done(words.missing, words.not_created)
    return _done(words.synced, SYNCED)


def _bound(resource: ExternalSecret, observed: Observed) -> str:
    """The name of a target that exists, also of one that another writer created."""
    if resource.spec.target.creation_policy == "None" or observed.target is None:
        return ""
    return form_of(resource).binding(resource)


def _done(reason: str, message: str, bound: str = "") -> Verdict:
    return Verdict(reason=reason, message=message, bound=bound)


def _failed(
    resource: ExternalSecret, message: str, error: Exception | None = None, bound: str = ""
) -> Verdict:
    reason = form_of(resource).wording.failed
    return Verdict(ok=False, reason=reason, message=message, error=error, bound=bound)


def _not_fetched(resource: ExternalSecret, error: SyncError) -> Verdict:
    return _failed(resource, "could not get secret data from provider", error)


# --------------------------------------------------------------------------------------------------- report
def report(
    resource: ExternalSecret,
    plan: Plan,
    failed: Action | None,
    error: Exception | None,
    now: float,
    options: Options,
) -> Report:
    """The report of a plan that was carried out, or that ended with an action that the home refused."""
    verdict = plan.verdict
    if failed is not None:
        verdict = replace(failed.refused or verdict, ok=False, error=error)
    status = _status(resource, verdict, now, is_confirmed=plan.unconfirmed is None)
    found = constraints.reported(resource, plan.constraint_verdict, status.conditions, now)
    status = replace(status, conditions=found)
    if verdict.error is not None:
        return _not_synced(resource, verdict, verdict.error, status, now)
    return Report(
        status=_document(resource, status),
        events=(
            *(
                Event("MissingProviderSecret", f"secret does not exist at provider using {place}")
                for place in plan.missing
            ),
            *_violations(resource, plan),
        ),
        origins=plan.origins,
        failure=plan.unconfirmed,
        next_due=_retried_by(resource, now)
        if plan.unconfirmed is not None
        else refresh.next_due(replace(resource, status=status), now, spread=options.spread),
    )


def _violations(resource: ExternalSecret, plan: Plan) -> Iterator[Event]:
    """The event of values that were written although they violate their constraints, once."""
    checked = plan.constraint_verdict
    if checked is not None and checked.reason == constraints.VIOLATED:
        before = conditions.find(resource.status.conditions, conditions.CONSTRAINTS_SATISFIED)
        if before is None or before.message != checked.message:
            yield Event("ConstraintsViolated", checked.message, warning=True)


def _not_synced(
    resource: ExternalSecret, verdict: Verdict, error: Exception, status: ExternalSecretStatus, now: float
) -> Report:
    """A Refusal waits for a change; anything else is tried again, at the interval at the latest."""
    found = last_error(error, now)
    retried = not isinstance(error, Refusal)
    return Report(
        status=_document(resource, status),
        events=(Event("UpdateFailed", f"{verdict.message}: {found}", warning=True),),
        last_error=found,
        failure=error if retried else None,
        next_due=_retried_by(resource, now) if retried else None,
    )


def _retried_by(resource: ExternalSecret, now: float) -> float | None:
    """The latest time of the next attempt after a failure, whatever its backoff."""
    interval = parse_duration(resource.spec.refresh_interval)
    return now + interval if interval > 0 else None


def _status(
    resource: ExternalSecret, verdict: Verdict, now: float, *, is_confirmed: bool
) -> ExternalSecretStatus:
    status = resource.status
    condition = conditions.ready(
        ExternalSecretCondition,
        status=verdict.ok,
        reason=verdict.reason,
        message=condition_message(verdict),
    )
    status = replace(
        status,
        conditions=conditions.put(status.conditions, condition, now=now),
        binding=Binding(name=verdict.bound) if verdict.bound else status.binding,
    )
    if not (verdict.ok and is_confirmed):
        return status
    version = refresh.version_of(resource.metadata)
    return replace(status, refresh_time=conditions.stamp(now), synced_resource_version=version)


def _document(resource: ExternalSecret, status: ExternalSecretStatus) -> Document | None:
    """The status to write; None if it is unchanged."""
    if status == resource.status:
        return None
    document: Document = to_builtins(status)
    # As the operator does, also without a Secret: users of the binding see that there is none yet.
    document["binding"] = {"name": status.binding.name if status.binding is not None else ""}
    return document
