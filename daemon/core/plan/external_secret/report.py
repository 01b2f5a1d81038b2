"""What is reported of a run of an ExternalSecret: status, events, the last error, when it is due next."""

from msgspec import to_builtins
from msgspec.structs import replace

from syncret.config.durations import parse_duration
from syncret.config.meta import Document
from syncret.config.resources.external_secret import (
    Binding,
    ExternalSecret,
    ExternalSecretCondition,
    ExternalSecretStatus,
)
from syncret.daemon.core import conditions
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.plan.actions import Action, Event, Options, Report, Verdict, last_error
from syncret.daemon.core.plan.external_secret.decide import Plan
from syncret.daemon.core.schedule import refresh
from syncret.daemon.core.schedule.due import next_due


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
    status = _status(resource, verdict, now)
    if verdict.error is not None:
        return _not_synced(resource, verdict, verdict.error, status, now)
    return Report(
        status=_document(resource, status),
        events=tuple(
            Event("MissingProviderSecret", f"secret does not exist at provider using {place}")
            for place in plan.missing
        ),
        origins=plan.origins,
        next_due=next_due(replace(resource, status=status), now, spread=options.spread),
    )


def _not_synced(
    resource: ExternalSecret, verdict: Verdict, error: Exception, status: ExternalSecretStatus, now: float
) -> Report:
    """A Refusal waits for a change; anything else is tried again, at the interval at the latest."""
    found = last_error(error, now)
    interval = parse_duration(resource.spec.refresh_interval)
    retried = not isinstance(error, Refusal)
    return Report(
        status=_document(resource, status),
        events=(Event("UpdateFailed", f"{verdict.message}: {found}", warning=True),),
        last_error=found,
        failure=error if retried else None,
        next_due=now + interval if retried and interval > 0 else None,
    )


def _status(resource: ExternalSecret, verdict: Verdict, now: float) -> ExternalSecretStatus:
    status = resource.status
    condition = conditions.ready(
        ExternalSecretCondition, status=verdict.ok, reason=verdict.reason, message=verdict.message
    )
    status = replace(
        status,
        conditions=conditions.put(status.conditions, condition, now=now),
        binding=Binding(name=verdict.bound) if verdict.bound else status.binding,
    )
    if not verdict.ok:
        return status
    version = refresh.version_of(resource.metadata)
    return replace(status, refresh_time=stamp(now), synced_resource_version=version)


def _document(resource: ExternalSecret, status: ExternalSecretStatus) -> Document | None:
    """The status to write, or None if it says what is said already."""
    if status == resource.status:
        return None
    document: Document = to_builtins(status)
    # As the operator does, also without a Secret: who binds to it sees that there is none yet.
    document["binding"] = {"name": status.binding.name if status.binding is not None else ""}
    return document
