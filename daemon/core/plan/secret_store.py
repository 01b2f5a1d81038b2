"""Stores, decided without any I/O: who may use one, when it is held by a finalizer, and probed; the report.

Whether a resource may use a generator is decided here, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from syncret.config.durations import DurationError
from syncret.config.meta import Metadata
from syncret.config.resources.base import GROUP, ConditionStatus
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.config.resources.secret_store import SecretStore, SecretStoreStatus, StoreCondition
from syncret.daemon.core import conditions
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan import reachability
from syncret.daemon.core.plan.actions import (
    Event,
    Options,
    Report,
    Verdict,
    condition_message,
    failed_event,
    last_error,
)
from syncret.daemon.core.selectors import matches
from syncret.providers.contract import Readiness
from syncret.providers.errors import Denied, Malformed, OverBudget, SyncError
from syncret.providers.kit.golang import regexp
from syncret.providers.work import Work

FINALIZER: Final = "secretstore.externalsecrets.io/finalizer"
UNKNOWN: Final = "ValidationUnknown"
VALID: Final = "Valid"
UNMAINTAINED: Final = "StoreUnmaintained"
UNWARNED: Final = "external-secrets.io/ignore-maintenance-checks"
"""The annotation of a store whose users know about that."""
_CONDITIONS_SECONDS: Final = 0.05
"""Work for the conditions of a store, which are evaluated on the event loop, for each of its users."""


# --------------------------------------------------------------------------------------------- who may use it
class PendingDependency(SyncError):
    """A dependency is being created or validated; its dependents are requeued after that."""


class _Spec(Struct, frozen=True):
    controller: str = ""
    conditions: tuple[StoreCondition, ...] = ()


class StoreSummary(Struct, frozen=True):
    """A store without its provider's spec, which may be large."""

    metadata: Metadata
    spec: _Spec
    status: SecretStoreStatus = SecretStoreStatus()


class GeneratorSummary(Struct, frozen=True):
    """A generator without the spec that its kind defines."""

    controller: str = ""


StoreLookup: TypeAlias = StoreSummary | SyncError | None
"""A store; None if there is none; the error if that is not known."""

GeneratorLookup: TypeAlias = GeneratorSummary | SyncError | None
"""A generator, likewise."""


def store_not_found(name: StoreName, namespace: str, elsewhere: str = "") -> Malformed:
    """The error for a store that does not exist; `elsewhere` says where one of its name is."""
    hint = elsewhere or f"create it, or correct the name of the store (namespace {namespace})"
    return Malformed(
        f'could not get {name.kind} "{name.name}", {name.kind}.{GROUP} "{name.name}" not found', hint=hint
    )


def store_invalid(name: StoreName, place: str) -> Malformed:
    """The error for a store whose manifest is refused."""
    return Malformed(
        f'could not get {name.kind} "{name.name}", invalid: {place}',
        hint=f"correct its manifest: syncret validate -f {place.rpartition(':')[0]}",
    )


def belongs_to_another_controller(found: StoreLookup | GeneratorLookup, options: Options) -> bool:
    """Whether it exists and has another controller class: resources that name it are then ignored."""
    match found:
        case StoreSummary(spec=spec):
            return not options.handles(spec.controller)
        case GeneratorSummary(controller=controller):
            return not options.handles(controller)
        case _:
            return False


def check_usable(
    name: StoreName,
    store: StoreLookup,
    *,
    namespace: str,
    labels: Mapping[str, str],
    options: Options,
    ready: bool,
) -> None:
    """Check that a resource of that namespace, which has these labels, may use the store.

    With `ready` also that the store is known to work. Raises Malformed, Denied or PendingDependency with the
    messages of the External Secrets Operator, or the error of the lookup.
    """
    if store is None:
        raise store_not_found(name, namespace)
    if isinstance(store, SyncError):
        raise store
    if not options.handles(store.spec.controller):
        raise Denied("can not reference unmanaged store", hint="its spec.controller names another class")
    if name.kind == CLUSTER_SECRET_STORE.kind and not admits(store.spec.conditions, namespace, labels):
        raise Denied(
            f'using cluster store "{name.name}" is not allowed from namespace "{namespace}": '
            "denied by spec.condition",
            hint="widen spec.conditions of the store, or use a SecretStore of the namespace",
        )
    if ready:
        _check_ready(store, name)


def _check_ready(store: StoreSummary, name: StoreName) -> None:
    verdict = conditions.find(store.status.conditions)
    if verdict is None and not store.metadata.deletion_timestamp:
        raise PendingDependency(f'{name.kind} "{name.name}" has not been validated yet')
    if verdict is None or verdict.status != "True":
        problem = reachability.problem_of(store.status.conditions)
        raise Malformed(
            f'{name.kind} "{name.name}" is not ready' + (f": {problem}" if problem else ""),
            hint=f"syncret explain {name.kind}/{name.name} says why",
        )


def admits(conditions: Sequence[StoreCondition], namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether a ClusterSecretStore may be used from a namespace. Without conditions it may be used from all.

    Raises Malformed for an invalid selector or regular expression.
    """
    work = Work(seconds=_CONDITIONS_SECONDS)
    try:
        return not conditions or any(_admitted(each, namespace, labels, work) for each in conditions)
    except OverBudget as error:
        raise Malformed(
            "the regular expressions of spec.conditions take too long", hint="write fewer and simpler ones"
        ) from error


def _admitted(condition: StoreCondition, namespace: str, labels: Mapping[str, str], work: Work) -> bool:
    if namespace in condition.namespaces:
        return True
    if condition.namespace_selector is not None and matches(condition.namespace_selector, labels):
        return True
    return any(regexp.compile(source, work).search(namespace, work) for source in condition.namespace_regexes)


# ------------------------------------------------------------------------------------------------ its own run
class Probed(NamedTuple):
    """Which uid and generation of a store was probed last, and when it is due again."""

    uid: str
    generation: int
    due: float


class Probe(Struct, frozen=True):
    """The result of a probe: whether the store is ready and what it can do, or the step that failed."""

    readiness: Readiness = "ready"
    capabilities: str = ""
    failed: str = ""
    error: SyncError | None = None
    is_maintained: bool = True
    """Whether the provider is maintained upstream."""


class Step(Struct, frozen=True, kw_only=True):
    """The next step: set or drop the finalizer, then probe, or wait."""

    is_held: bool | None = None
    """Whether the finalizer is to be there; None: as it is."""
    is_probed: bool = False
    probed: Probed | None = None
    """The probe to remember; its due time is waited for."""


def next_step(
    store: SecretStore,
    probed: Probed | None,
    now: float,
    options: Options,
    *,
    is_needed: bool,
    is_in_doubt: bool = False,
) -> Step:
    """The next step. `is_needed`: a PushSecret has, or may have, something to delete at this store.

    `is_in_doubt`: it has refused a login since it was probed.
    """
    if not options.handles(store.spec.controller):
        return Step()
    is_deleted = bool(store.metadata.deletion_timestamp)
    is_held = None if is_needed and is_deleted else is_needed
    if is_deleted:
        return Step(is_held=is_held)
    known = _known(store, probed, now, options)
    is_due = is_in_doubt or known is None or known.due <= now
    return Step(is_held=is_held, is_probed=is_due, probed=None if is_due else known)


def _known(store: SecretStore, probed: Probed | None, now: float, options: Options) -> Probed | None:
    """The last probe. A store that was ready before a restart is believed until its interval has passed."""
    if probed is not None:
        is_same = (probed.uid, probed.generation) == (store.metadata.uid, store.metadata.generation)
        return probed if is_same else None
    condition = conditions.find(store.status.conditions)
    is_ready = condition is not None and condition.status == "True"
    is_ready = is_ready and reachability.problem_of(store.status.conditions) is None
    return probed_now(store, now, options) if is_ready else None


def probed_now(store: SecretStore, now: float, options: Options) -> Probed:
    """The probe of this moment, and when the next one is due."""
    try:
        interval = store.spec.refresh_seconds() or options.store_interval
    except DurationError:  # admission refuses it, but it may have been passed over
        interval = options.store_interval
    return Probed(store.metadata.uid, store.metadata.generation, now + interval)


def is_needed_by(push: PushSecret, store: SecretStore) -> bool:
    """Whether a PushSecret that deletes what it pushed pushes to this store, or once did."""
    if push.spec.deletion_policy != "Delete":
        return False
    kind, name = store.kind, store.metadata.name
    return f"{kind}/{name}" in push.status.synced_push_secrets or any(
        named.kind == kind and (named.name == name or _selects(named, store))
        for named in push.spec.secret_store_refs
    )


def _selects(named: PushStoreRef, store: SecretStore) -> bool:
    try:
        return named.label_selector is not None and matches(named.label_selector, store.metadata.labels)
    except Malformed:
        return False  # the PushSecret reports it


def report(store: SecretStore, probe: Probe, now: float, *, next_due: float | None = None) -> Report:
    """The report of a probe."""
    verdict = _verdict(probe)
    condition = conditions.ready(
        ConditionStatus, status=verdict.ok, reason=verdict.reason, message=condition_message(verdict)
    )
    answered = reachability.after_call(store.status.conditions, probe.error, now)
    found = conditions.put(answered, condition, now=now)
    is_news = conditions.find(found) != conditions.find(store.status.conditions)
    status = msgspec.structs.replace(
        store.status,
        conditions=found,
        capabilities=probe.capabilities if verdict.reason == VALID else store.status.capabilities,
    )
    error = verdict.error
    return Report(
        status=None if status == store.status else msgspec.to_builtins(status),
        events=tuple(_events(verdict, is_news=is_news, warns=_warns(store, probe))),
        last_error=None if error is None else last_error(error, now),
        failure=error,
        next_due=next_due,
    )


def _events(verdict: Verdict, *, is_news: bool, warns: bool) -> Iterator[Event]:
    if verdict.error is not None:
        yield failed_event(verdict.reason, verdict)
    elif is_news:
        if warns and verdict.reason == VALID:
            yield Event(UNMAINTAINED, "the provider of this store is not maintained upstream", warning=True)
        yield Event(verdict.reason, verdict.message, warning=verdict.reason == UNKNOWN)


def _warns(store: SecretStore, probe: Probe) -> bool:
    return not probe.is_maintained and UNWARNED not in store.metadata.annotations


def _verdict(probe: Probe) -> Verdict:
    if probe.error is not None:
        return Verdict(ok=False, reason="InvalidProviderConfig", message=probe.failed, error=probe.error)
    if probe.readiness == "unknown":
        return Verdict(reason=UNKNOWN, message="could not determine validation status")
    return Verdict(reason=VALID, message="store validated")
