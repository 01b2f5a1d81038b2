"""Stores, decided without any I/O: whether one is held, when it is probed, and what is reported of that."""

from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from syncret.config.durations import DurationError
from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.push_secret import PushSecret, PushStoreRef
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core import conditions
from syncret.daemon.core.plan.actions import Event, Options, Report, Verdict, last_error
from syncret.daemon.core.selectors import matches
from syncret.providers.contract import Readiness
from syncret.providers.errors import Malformed, SyncError

FINALIZER: Final = "secretstore.externalsecrets.io/finalizer"


class Probed(NamedTuple):
    """Which uid and generation of a store was probed last, and when it is due again."""

    uid: str
    generation: int
    due: float


class Probe(Struct, frozen=True):
    """What the store answered: whether it is ready and what it can do, or the step that failed."""

    readiness: Readiness = "ready"
    capabilities: str = ""
    failed: str = ""
    error: SyncError | None = None


class Step(Struct, frozen=True, kw_only=True):
    """What is done now: set or drop the finalizer, then probe, or wait."""

    is_held: bool | None = None
    """Whether the finalizer is to be there; None: as it is."""
    is_probed: bool = False
    probed: Probed | None = None
    """The probe to remember; its due time is waited for."""


def next_step(
    store: SecretStore, probed: Probed | None, now: float, options: Options, *, is_needed: bool
) -> Step:
    """What is done now. `is_needed`: a PushSecret has, or may have, something to delete at this store."""
    if not options.handles(store.spec.controller):
        return Step()
    is_deleted = bool(store.metadata.deletion_timestamp)
    is_held = None if is_needed and is_deleted else is_needed
    if is_deleted:
        return Step(is_held=is_held)
    known = _known(store, probed, now, options)
    is_due = known is None or known.due <= now
    return Step(is_held=is_held, is_probed=is_due, probed=None if is_due else known)


def _known(store: SecretStore, probed: Probed | None, now: float, options: Options) -> Probed | None:
    """The last probe. A store that was ready before a restart is believed until its interval has passed."""
    if probed is not None:
        is_same = (probed.uid, probed.generation) == (store.metadata.uid, store.metadata.generation)
        return probed if is_same else None
    condition = conditions.find(store.status.conditions)
    is_ready = condition is not None and condition.status == "True"
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
    """What is published of a probe."""
    verdict = _verdict(probe)
    condition = conditions.ready(
        ConditionStatus, status=verdict.ok, reason=verdict.reason, message=verdict.message
    )
    status = msgspec.structs.replace(
        store.status,
        conditions=conditions.put(store.status.conditions, condition, now=now),
        capabilities=probe.capabilities if verdict.reason == "Valid" else store.status.capabilities,
    )
    error = verdict.error
    failed = Event(verdict.reason, f"{verdict.message}: {error}", warning=True)
    return Report(
        status=None if status == store.status else msgspec.to_builtins(status),
        events=() if error is None else (failed,),
        last_error=None if error is None else last_error(error, now),
        failure=error,
        next_due=next_due,
    )


def _verdict(probe: Probe) -> Verdict:
    if probe.error is not None:
        return Verdict(ok=False, reason="InvalidProviderConfig", message=probe.failed, error=probe.error)
    if probe.readiness == "unknown":
        return Verdict(reason="ValidationUnknown", message="could not determine validation status")
    return Verdict(reason="Valid", message="store validated")
