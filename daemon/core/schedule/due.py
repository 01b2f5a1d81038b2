"""When an ExternalSecret is due: by its policy, interval and sync windows, in the slot of what it reads."""

from syncret.config.durations import parse_duration
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.daemon.core import needs
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.schedule import refresh, sync_windows


def is_due(resource: ExternalSecret, now: float, *, spread: bool) -> bool:
    """Whether it must be synced now."""
    if not resource.status.synced_resource_version:
        return True  # never synced: whatever the policy
    return refresh.is_due(
        resource.spec.refresh_policy or "Periodic",
        parse_duration(resource.spec.refresh_interval),
        synced=resource.status.synced_resource_version,
        current=refresh.version_of(resource.metadata),
        last=seconds(resource.status.refresh_time or ""),
        now=now,
        allowed=sync_windows.allowed(*_windows(resource), now),
        spread=_slot_name(resource) if spread else "",
    )


def next_due(resource: ExternalSecret, now: float, *, spread: bool) -> float | None:
    """When time alone asks for the next sync; None: only a change does."""
    due = refresh.next_due(
        resource.spec.refresh_policy or "Periodic",
        parse_duration(resource.spec.refresh_interval),
        last=seconds(resource.status.refresh_time or ""),
        now=now,
        spread=_slot_name(resource) if spread else "",
    )
    return None if due is None else sync_windows.next_allowed(*_windows(resource), due)


def syncs_once(resource: ExternalSecret) -> bool:
    """Whether it is synced a single time, so that another sync would replace values for no reason."""
    match resource.spec.refresh_policy:
        case "CreatedOnce":
            return True
        case "OnChange":
            return False
        case _:
            return parse_duration(resource.spec.refresh_interval) <= 0


def _windows(resource: ExternalSecret) -> tuple[str, list[sync_windows.Window]]:
    """Whether the sync windows allow or deny, and when they are open."""
    chosen = resource.spec.sync_windows
    if chosen is None:
        return "", []
    return chosen.kind, [
        sync_windows.Window(each.schedule, parse_duration(each.duration)) for each in chosen.windows
    ]


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
