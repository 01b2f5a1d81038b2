"""When an object is to be synced: now, at a later time, or not before it changes.

All times are seconds since the epoch, all intervals seconds. Nothing here reads a clock.
"""

import hashlib
from typing import Final

from syncret.config.meta import Metadata
from syncret.daemon.core.digest import metadata_hash

_LEAST_SPREAD: Final = 10
"""Seconds. Shorter intervals spread themselves."""


def version_of(metadata: Metadata) -> str:
    """What `status.syncedResourceVersion` records: it differs once spec, labels or annotations changed."""
    return f"{metadata.generation}-{metadata_hash(metadata.labels, metadata.annotations)}"


def is_due(
    policy: str,
    interval: float,
    *,
    synced: str,
    current: str,
    last: float | None,
    now: float,
    allowed: bool = True,
    spread: str = "",
) -> bool:
    """Whether an ExternalSecret must be synced now.

    Args:
        policy: `spec.refreshPolicy`; empty means Periodic.
        interval: `spec.refreshInterval`; zero means once.
        synced: the version that was synced last (`status.syncedResourceVersion`), empty where none was.
        current: the version that the object has now.
        last: when it was synced last (`status.refreshTime`).
        now: the time.
        allowed: whether the sync windows allow a refresh that only time asks for.
        spread: as for `next_due`.
    """
    match policy:
        case "CreatedOnce":
            return not synced or last is None
        case "OnChange":
            return not synced or last is None or synced != current
        case _ if interval <= 0 and synced:
            return False
        case _ if synced != current or last is None or last > now:
            return True
        case _:
            return allowed and _due(interval, last, spread) <= now


def is_push_due(interval: float, *, synced: str, current: str, last: float | None, now: float) -> bool:
    """Whether a PushSecret must be pushed now; the arguments are those of `is_due`."""
    if synced != current:
        return True
    return interval > 0 and (last is None or last > now or last + interval <= now)


def next_due(
    policy: str, interval: float, *, last: float | None, now: float, spread: str = ""
) -> float | None:
    """When time alone asks for the next sync; None where it never does.

    `spread` names what is read (the store and the key): the time is then moved to that name's slot.
    """
    if interval <= 0 or policy in {"CreatedOnce", "OnChange"}:
        return None
    if last is None or last > now:
        return now
    return max(now, _due(interval, last, spread))


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


def _due(interval: float, last: float, spread: str) -> float:
    return slot(last, interval, spread) if spread else last + interval
