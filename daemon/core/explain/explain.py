"""Explains one object: the origin of its keys, the age of its value, its last error, its next run."""

from collections.abc import Callable, Collection, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from syncret.config.durations import DurationError, format_duration, parse_duration
from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.base import Resource
from syncret.config.resources.cluster import ClusterExternalSecret, ClusterPushSecret
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import Role, is_shown, kind_named, role_of
from syncret.config.resources.push_secret import PushSecret
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core.conditions import (
    CONSTRAINTS_SATISFIED,
    INVALID_MANIFEST,
    REACHABLE,
    RUN_FAILED,
    find,
    seconds,
    stamp,
)
from syncret.daemon.core.explain import key_origins
from syncret.daemon.core.explain.key_origins import KeyOrigin
from syncret.providers.kit.ambient.rules import Verdict

if TYPE_CHECKING:
    from syncret.config.resources.delivery.delivery import Delivery
    from syncret.config.resources.delivery.status import DeliveryStatus

_PERIODIC: Final[Collection[Role]] = ("sync", "push")
"""Kinds that an interval of their own makes due."""


class ExplainInput(NamedTuple):
    """Facts about an object besides its manifest and status."""

    now: float
    due: float | None = None
    running: bool = False
    failures: int = 0
    error: tuple[float, str, str] | None = None
    """The last error: when, message and hint."""
    reported: bool = True
    """False if that is the error of a run which could write no status."""
    origins: Mapping[str, str] = {}
    handled: bool = True
    """False if another controller class handles it."""
    store_interval: float = 300.0
    manifest: str | None = None
    """File and line of its manifest."""
    invalid: str | None = None
    """Place and problem of its newest manifest, if that has no effect: the last valid version is in force."""
    unanswered: float | None = None
    """For a store: the seconds for which objects have waited for it without an answer."""
    server: str = ""
    """The server that they wait for, if that is known."""
    held: tuple[str, ...] = ()
    """The writes that its last run would have made, if the daemon only observes."""
    noted: tuple[str, ...] = ()
    """Notes of its last run that no status has."""
    released: tuple[str, ...] = ()
    """Which sensitive fields of releases it is made for."""
    receivers: tuple[Verdict, ...] = ()
    """The servers to which a store sends the daemon's own identity."""


class LastError(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The last error."""

    at: str
    message: str
    hint: str = ""


class Attempt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When the object runs next, and why; without a time it runs only after a change."""

    at: str | None
    in_seconds: float | None
    why: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The explanation of one object, without secret values."""

    kind: str
    namespace: str
    name: str
    ready: str
    reason: str
    message: str
    good_since: str | None
    age_seconds: float | None
    target: str
    keys: tuple[KeyOrigin, ...]
    notes: tuple[str, ...]
    last_error: LastError | None
    next: Attempt
    manifest: str | None = None


def explain(document: Document, known: ExplainInput) -> Explanation:
    """Explain one object.

    Raises KeyError for a kind that is not shown to operators, msgspec.ValidationError for a malformed object.
    """
    kind = kind_named(document["kind"])
    if kind is None or not is_shown(kind.group_kind):
        raise KeyError(document["kind"])
    resource: Resource = msgspec.convert(document, kind.model)
    status = getattr(resource, "status", None)
    condition = find(getattr(status, "conditions", ()))
    refreshed = seconds(getattr(status, "refresh_time", None) or "")
    target, keys, notes = _DESCRIPTIONS[kind.role](resource, known)
    error = known.error
    due = None if known.running else known.due
    ready, reason, message = "Unknown", "", "nothing has been tried yet"
    if error is not None and not known.reported:
        ready, reason, message = "False", RUN_FAILED, error[1]
    elif condition is None and error is not None:
        message = "its last run failed, without a condition"
    elif condition is not None:
        ready, reason, message = condition.status, getattr(condition, "reason", ""), condition.message
    return Explanation(
        kind=resource.kind,
        namespace=resource.metadata.namespace,
        name=resource.metadata.name,
        ready=ready,
        reason=reason,
        message=message,
        good_since=stamp(refreshed) if refreshed is not None else None,
        age_seconds=max(0.0, known.now - refreshed) if refreshed is not None else None,
        target=target,
        keys=keys,
        notes=(
            *_invalid_notes(known),
            *notes,
            *known.released,
            *(f"observed only, would be written: {each}" for each in known.held),
        ),
        last_error=LastError(at=stamp(error[0]), message=error[1], hint=error[2]) if error else None,
        next=Attempt(
            at=stamp(due) if due is not None else None,
            in_seconds=max(0.0, due - known.now) if due is not None else None,
            why=_next_reason(resource, known, refreshed),
        ),
        manifest=known.manifest,
    )


def explain_exports(ref: ObjectRef, known: ExplainInput) -> Explanation:
    """Explain the exports of a resource of another operator, whose status is not ours."""
    error = known.error
    due = None if known.running else known.due
    seen = bool(known.noted) or error is not None
    return Explanation(
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        ready="False" if error is not None else "True" if seen else "Unknown",
        reason="",
        message=error[1] if error else "exported" if seen else "it exports nothing",
        good_since=None,
        age_seconds=None,
        target="",
        keys=(),
        notes=(*known.noted, *(f"observed only, would be written: {each}" for each in known.held)),
        last_error=LastError(at=stamp(error[0]), message=error[1], hint=error[2]) if error else None,
        next=Attempt(
            at=stamp(due) if due is not None else None,
            in_seconds=max(0.0, due - known.now) if due is not None else None,
            why="when it, its outputs or their secrets change"
            if due is None
            else "to read its secrets again",
        ),
        manifest=known.manifest,
    )


def explain_invalid(ref: ObjectRef, place: str, problem: str) -> Explanation:
    """Explain an object that does not exist, because its manifest is invalid."""
    return Explanation(
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        ready="False",
        reason=INVALID_MANIFEST,
        message=f"{place}: {problem}",
        good_since=None,
        age_seconds=None,
        target="",
        keys=(),
        notes=(),
        last_error=None,
        next=Attempt(at=None, in_seconds=None, why="when its manifest is corrected"),
        manifest=place,
    )


def _invalid_notes(known: ExplainInput) -> Iterator[str]:
    if known.invalid is not None:
        yield f"its manifest is invalid, the last valid version is in force: {known.invalid}"


class _Description(NamedTuple):
    """The parts that depend on the kind: the target, the origins of the keys, and notes."""

    target: str
    keys: tuple[KeyOrigin, ...] = ()
    notes: tuple[str, ...] = ()


def _external_secret(resource: ExternalSecret, known: ExplainInput) -> _Description:
    spec, origins = resource.spec, known.origins
    notes: list[str] = []
    kind = spec.target.manifest.kind if spec.target.manifest is not None else "Secret"
    if spec.data_from and not origins:
        notes.append("which keys spec.dataFrom gives is known after the next refresh by this process")
    if spec.target.template is not None:
        notes.append("spec.target.template makes the final keys of these")
    checked = find(resource.status.conditions, CONSTRAINTS_SATISFIED)
    if checked is not None:
        notes.append(f"constraints since {checked.last_transition_time}: {checked.message}")
    target = f"{kind}/{spec.target.name or resource.metadata.name} ({spec.target.creation_policy})"
    return _Description(target, key_origins.of_external_secret(spec, origins), tuple(notes))


def _push_secret(resource: PushSecret, _known: ExplainInput) -> _Description:
    pushed = resource.status.synced_push_secrets
    notes = tuple(f"pushed to {store}: {', '.join(sorted(keys))}" for store, keys in pushed.items() if keys)
    return _Description(_source(resource), key_origins.of_push_secret(resource.spec), notes)


def _store(resource: SecretStore, known: ExplainInput) -> _Description:
    provider = next(iter(resource.spec.provider), "")
    can = (f"capabilities: {resource.status.capabilities}",) if resource.status.capabilities else ()
    return _Description(
        f"provider {provider}", notes=(*_reachability(resource, known), *can, *map(str, known.receivers))
    )


def _reachability(resource: SecretStore, known: ExplainInput) -> Iterator[str]:
    """A note if the store does not answer, or did not."""
    condition = find(resource.status.conditions, REACHABLE)
    if condition is not None:
        silent = condition.status == "False"
        cause = f": {condition.message}" if silent and known.error is None else ""
        yield f"{'has not answered' if silent else 'answers'} since {condition.last_transition_time}{cause}"
    if known.unanswered is not None:
        server = f" from {known.server}" if known.server else ""
        yield f"objects have waited for an answer{server} for {known.unanswered:.0f} s"


def _fan_out(resource: ClusterExternalSecret | ClusterPushSecret, _known: ExplainInput) -> _Description:
    status = resource.status
    made = ", ".join(status.provisioned_namespaces)
    notes = [f"made in: {made}"] if made else []
    notes += [f"failed in {each.namespace}: {each.reason}" for each in status.failed_namespaces]
    return _Description("one object in each namespace that it selects", notes=tuple(notes))


def _delivery(resource: "Delivery", known: ExplainInput) -> _Description:
    status = resource.status
    notes = [f"phase {status.phase or 'Settled'}"]
    if status.next is not None and status.next.due_at:
        notes.append(f"set {status.next.generation} is due at {status.next.due_at}")
    places = ", ".join(place.path for place in status.targets)
    return _Description(
        places or "nothing is delivered yet",
        notes=(*notes, *_past(status), *_consumers(status), *known.noted),
    )


def _consumers(status: "DeliveryStatus") -> Iterator[str]:
    """The units that asked for credentials, and with which set they run."""
    live = status.live.generation if status.live is not None else 0
    for each in status.consumers:
        newer = f"; live is {live}" if each.generation != live else ""
        yield f"{each.unit} has {each.credential} of set {each.generation} since {each.at}{newer}"


def _past(status: "DeliveryStatus") -> list[str]:
    """The last events of the Delivery, in order; the output of commands was redacted before it was kept."""
    steps = {"check": status.last_check, "reload": status.last_reload, "proof": status.last_healthy}
    past = [
        (step.at, f"{name}: {step.result} after {step.took}" + (f": {step.message}" if step.message else ""))
        for name, step in steps.items()
        if step is not None
    ]
    if status.live is not None:
        past.append((status.live.since, f"set {status.live.generation} is live"))
    if status.rejected is not None:
        past.append((status.rejected.at, f"a set was rejected: {status.rejected.reason}"))
    return [f"{at} {text}" for at, text in sorted(past, key=itemgetter(0))]


_DESCRIPTIONS: Final[Mapping[Role, Callable[[Any, ExplainInput], _Description]]] = {
    "sync": _external_secret,
    "push": _push_secret,
    "store": _store,
    "fan_out": _fan_out,
    "delivery": _delivery,
}


def _source(resource: PushSecret) -> str:
    selector = resource.spec.selector
    if selector.generator_ref is not None:
        return f"from {selector.generator_ref.kind}/{selector.generator_ref.name}"
    name = selector.secret.name if selector.secret is not None else ""
    return f"from Secret/{name}" if name else "from every Secret that its labels select"


def _next_reason(resource: Resource, known: ExplainInput, refreshed: float | None) -> str:
    if resource.metadata.deletion_timestamp:
        return "it is being deleted"
    if not known.handled:
        return "another controller class looks after it"
    if known.running:
        return "it is being worked on right now"
    if known.failures and known.due is not None:
        times = "failure" if known.failures == 1 else f"{known.failures} failures in a row"
        return f"retry after {times}"
    if known.due is not None and known.due <= known.now:
        return "it is due, and waits for a worker"
    if known.due is None:
        return _reason_without_time(resource, known)
    return _reason_for_time(resource, known, known.due, refreshed)


def _reason_without_time(resource: Resource, known: ExplainInput) -> str:
    if known.error is not None:
        return "on a change only: another attempt would not help"
    if isinstance(resource, ExternalSecret):
        policy = resource.spec.refresh_policy
        if policy == "CreatedOnce":
            return "never again: refreshPolicy is CreatedOnce"
        if policy == "OnChange":
            return "when its spec, labels or annotations change: refreshPolicy is OnChange"
        if not resource.status.conditions:
            return "when its store is ready"
    if role_of(resource.group_kind) in _PERIODIC and _interval(resource) == 0:
        return "never by time: refreshInterval is 0"
    return "when it, or something it refers to, changes"


def _reason_for_time(resource: Resource, known: ExplainInput, due: float, refreshed: float | None) -> str:
    interval = _interval(resource)
    if interval is None:
        return "planned by its last run"
    if role_of(resource.group_kind) in _PERIODIC:
        every = f"refreshInterval {format_duration(interval)}"
        latest = (refreshed if refreshed is not None else known.now) + interval
        if isinstance(resource, ExternalSecret) and resource.spec.sync_windows and due > latest + 1:
            return f"{every}, then the next time that syncWindows allow"
        return f"{every}, moved ahead to the slot of its store and key" if due < latest - 1 else every
    return f"probed every {format_duration(interval or known.store_interval)}"


def _interval(resource: Resource) -> float | None:
    """The interval of the object in seconds; None if it has none or a malformed one."""
    role, spec = role_of(resource.group_kind), cast("Any", getattr(resource, "spec", None))
    try:
        if role in _PERIODIC:
            return parse_duration(spec.refresh_interval)
        return float(spec.refresh_seconds()) if role == "store" else None
    except DurationError:
        return None
