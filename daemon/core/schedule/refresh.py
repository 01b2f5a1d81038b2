"""When an ExternalSecret is to be synced, or a PushSecret pushed: now, at a later time, or once it changes.

All times are seconds since the epoch, all intervals seconds. Nothing here reads a clock. With `spread` a
refresh that time asks for has its slot: objects that read the same key are due together, others apart.
"""

import hashlib
from typing import Final

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import Metadata
from syncret.config.resources.external_secret import ExternalSecret, SyncWindows
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core import needs
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.digest import metadata_hash
from syncret.daemon.core.schedule import sync_windows

_LEAST_SPREAD: Final = 10
"""Seconds. Shorter intervals spread themselves."""


class PeriodicSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The refresh interval in the spec of an object of any kind."""

    refresh_interval: str | int | None = None
    refresh_policy: str | None = None

    @property
    def interval(self) -> float:
        """The refresh interval in seconds; 0: never by time."""
        interval = self.refresh_interval
        if interval is None or self.refresh_policy in {"CreatedOnce", "OnChange"}:
            return 0.0
        try:
            return float(interval) if isinstance(interval, int) else parse_duration(interval)
        except DurationError:
            return 0.0  # the object's condition reports it


class Periodic(msgspec.Struct, frozen=True):
    """An object of any kind, as far as its interval is concerned."""

    spec: PeriodicSpec = PeriodicSpec()


def version_of(metadata: Metadata) -> str:
    """The value of `status.syncedResourceVersion`: it changes with spec, labels or annotations."""
    return f"{metadata.generation}-{metadata_hash(metadata.labels, metadata.annotations)}"


def is_due(resource: ExternalSecret, now: float, *, spread: bool) -> bool:
    """Whether an ExternalSecret must be synced now."""
    spec, synced = resource.spec, resource.status.synced_resource_version
    if not synced:
        return True  # never synced: whatever the policy
    last, interval = _last(resource), parse_duration(spec.refresh_interval)
    if spec.refresh_policy == "CreatedOnce":
        return last is None
    if spec.refresh_policy != "OnChange" and interval <= 0:
        return False
    if last is None or synced != version_of(resource.metadata):
        return True
    if spec.refresh_policy == "OnChange":
        return False
    return last > now or (_due(resource, interval, last, spread=spread) <= now and _is_allowed(resource, now))


def next_due(resource: ExternalSecret, now: float, *, spread: bool) -> float | None:
    """When time alone asks for the next sync; None: only a change does."""
    spec, last = resource.spec, _last(resource)
    interval = parse_duration(spec.refresh_interval)
    if interval <= 0 or spec.refresh_policy in {"CreatedOnce", "OnChange"}:
        return None
    due = now if last is None or last > now else max(now, _due(resource, interval, last, spread=spread))
    chosen = spec.sync_windows
    return due if chosen is None else sync_windows.next_allowed(chosen.kind, _windows(chosen), due)


def syncs_once(resource: ExternalSecret) -> bool:
    """Whether it is synced a single time, so that another sync would replace values for no reason."""
    match resource.spec.refresh_policy:
        case "CreatedOnce":
            return True
        case "OnChange":
            return False
        case _:
            return parse_duration(resource.spec.refresh_interval) <= 0


def is_push_due(resource: PushSecret, now: float) -> bool:
    """Whether a PushSecret must be pushed now."""
    if resource.status.synced_resource_version != version_of(resource.metadata):
        return True
    due = next_push_due(resource, now)
    return due is not None and due <= now


def next_push_due(resource: PushSecret, now: float) -> float | None:
    """When time alone asks for the next push; None: only a change does."""
    last, interval = _last(resource), parse_duration(resource.spec.refresh_interval)
    if interval <= 0:
        return None
    return now if last is None or last > now else max(now, last + interval)


def slot(last: float, interval: float, key: str) -> float:
    """The due time, moved to the key's own place in the interval; a restart does not change that place.

    Never later than `last + interval`, so no value grows older than asked; only the first period is shorter.
    Slots are whole seconds, as are the times in a status: otherwise a sync would not recognize its own slot.
    """
    latest = last + interval
    if interval < _LEAST_SPREAD or interval % 1:
        return latest
    offset = _number(key) % int(interval)
    due = latest - (latest - offset) % interval
    return due if due > last else latest


def _number(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _last(resource: ExternalSecret | PushSecret) -> float | None:
    """When it was synced or pushed last, where that is known."""
    return seconds(resource.status.refresh_time or "")


def _due(resource: ExternalSecret, interval: float, last: float, *, spread: bool) -> float:
    """When it is due by time. Generated values live for the whole interval: a slot may come at once."""
    if not spread or needs.generators(resource.spec):
        return last + interval
    return slot(last, interval, _slot_name(resource))


def _is_allowed(resource: ExternalSecret, now: float) -> bool:
    """Whether the sync windows allow a refresh that only time asks for."""
    chosen = resource.spec.sync_windows
    return chosen is None or sync_windows.allowed(chosen.kind, _windows(chosen), now)


def _windows(chosen: SyncWindows) -> list[sync_windows.Window]:
    return [sync_windows.Window(each.schedule, parse_duration(each.duration)) for each in chosen.windows]


def _slot_name(resource: ExternalSecret) -> str:
    """Objects that read the same key of the same store are due together: their reads meet in one call."""
    namespace = resource.metadata.namespace
    match needs.first(resource.spec):
        case needs.Read(store, ref) | needs.Extract(store, ref):
            return f"{_whole_name(store, namespace)}/{ref.key}"
        case needs.Search(store, _):
            return _whole_name(store, namespace)
        case _:
            return f"{namespace}/{resource.metadata.name}"


def _whole_name(store: needs.StoreName, namespace: str) -> str:
    """A store's name among all: a ClusterSecretStore is the same one for every namespace."""
    return str(store) if store.kind == CLUSTER_SECRET_STORE.kind else f"{namespace}/{store}"
